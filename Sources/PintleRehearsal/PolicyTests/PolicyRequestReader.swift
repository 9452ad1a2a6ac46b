// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

/// Reads `request`.
enum PolicyRequestReader {
    private enum Mode: String, CaseIterable {
        case forward, gateway, tunnel, intercept
    }

    static func read(_ node: StrictNode) -> PolicyTest.Request? {
        guard let map = node.map(PolicyTestKeys.request) else { return nil }
        guard let url = map["url"] else {
            node.report("the key \"url\" is missing")
            return nil
        }
        guard let text = url.nonEmptyString() else { return nil }
        let method = map["method"].map(Self.method)
        if case .some(nil) = method { return nil }
        guard let mode = Self.mode(map, text, method ?? nil) else { return nil }
        guard let fields = PolicyFieldReader.read(map["headers"], isRequest: true),
            let content = ContentReader.read(map, isRequest: true)
        else { return nil }
        guard let (target, host) = Self.target(url, text, mode, hasHost: fields.contains("Host")) else { return nil }
        var head = RequestHead(
            method: (method ?? nil) ?? (mode == .tunnel ? "CONNECT" : "GET"), target: target, fields: fields)
        if let host, !head.fields.contains("Host") { head.fields.append("Host", host) }
        if let content {
            if let type = content.mediaType, !head.fields.contains("Content-Type") {
                head.fields.append("Content-Type", type)
            }
            head.fields.set("Content-Length", "\(content.bytes.count)")
        }
        return PolicyTest.Request(
            head: head, body: content?.bytes ?? [], client: map["client"].flatMap(Self.client) ?? PolicyTest.Client(),
            isIntercepted: mode == .intercept)
    }

    private static func method(_ node: StrictNode) -> String? {
        node.parsed { text throws(Malformed) in
            guard ASCII.isToken(text.utf8) else { throw Malformed("must be a method, as in GET") }
            return text
        }
    }

    /// The mode that is written, or that method and URL show; nil after a contradiction was reported.
    private static func mode(_ map: StrictMap, _ url: String, _ method: String?) -> Mode? {
        guard let node = map["mode"] else {
            return method == "CONNECT" ? .tunnel : url.hasPrefix("/") ? .gateway : .forward
        }
        guard let mode = node.choice(Mode.self) else { return nil }
        if let method, (method == "CONNECT") != (mode == .tunnel) {
            node.report(mode == .tunnel ? "a tunnel is asked for with CONNECT" : "CONNECT asks for a tunnel")
            return nil
        }
        return mode
    }

    /// The target, and the Host of a request that addresses Pintle as a server.
    private static func target(
        _ node: StrictNode, _ text: String, _ mode: Mode, hasHost: Bool
    ) -> (RequestTarget, host: String?)? {
        if mode == .tunnel {
            guard let authority = Authority(text, defaultPort: 443) ?? (try? HTTPURL(text))?.authority else {
                node.report("\(node.quoted): must be host:port")
                return nil
            }
            return (.authority(authority), nil)
        }
        let isPath = mode == .gateway && text.hasPrefix("/")
        if isPath, !hasHost {
            node.report("a path is asked of the gateway, which chooses by the Host; add headers: {Host: name}")
            return nil
        }
        do throws(HTTPURLError) {
            let url = try HTTPURL(isPath ? "http://host\(text)" : text)
            if mode == .gateway {
                return (.origin(path: url.path), isPath ? nil : url.authority.description(for: .http))
            }
            return (.absolute(scheme: url.scheme, authority: url.authority, path: url.path), nil)
        } catch {
            node.report("\(node.quoted): \(error)")
            return nil
        }
    }

    private static func client(_ node: StrictNode) -> PolicyTest.Client? {
        guard let map = node.map(PolicyTestKeys.client) else { return nil }
        var client = PolicyTest.Client()
        map.read("address", into: &client.address) { node in
            node.parsed { text throws(Malformed) in
                guard let address = IPAddress(text) else { throw Malformed("must be an IP address") }
                return address
            }
        }
        map.read("user", into: &client.user) { node in node.nonEmptyString().map { .some($0) } }
        map.read("tag", into: &client.tag) { node in node.nonEmptyString().map { .some($0) } }
        return client
    }
}

/// Reads `response`.
enum PolicyResponseReader {
    static func read(_ node: StrictNode) -> PolicyTest.Response? {
        guard let map = node.map(PolicyTestKeys.response) else { return nil }
        var status = 200
        map.read("status", into: &status) { $0.int(200...599) }
        guard var fields = PolicyFieldReader.read(map["headers"], isRequest: false),
            let content = ContentReader.read(map, isRequest: false)
        else { return nil }
        if let type = content?.mediaType, !fields.contains("Content-Type") { fields.append("Content-Type", type) }
        return PolicyTest.Response(
            head: ResponseHead(status: UInt16(status), reason: "", fields: fields), body: content?.bytes ?? [])
    }
}

/// Reads a map of header fields; a list has several lines of one field.
enum PolicyFieldReader {
    /// Fields that the content of a message decides.
    private static let framing: Set<String> = ["content-length", "transfer-encoding"]

    /// - Returns: nil after a fault was reported.
    static func read(_ node: StrictNode?, isRequest: Bool) -> Fields? {
        guard let node else { return Fields() }
        guard let entries = node.entries() else { return nil }
        var fields = Fields()
        var isWhole = true
        for entry in entries {
            if let reason = self.refusal(of: entry.key, isRequest) {
                entry.value.report(reason)
                isWhole = false
                continue
            }
            for node in entry.value.oneOrMore() ?? [] {
                let value = node.parsed { text throws(Malformed) in
                    guard FieldSyntax.isValue(text) else {
                        throw Malformed("a field value has no control characters, and no blanks at its ends")
                    }
                    return text
                }
                if let value { fields.append(entry.key, value) } else { isWhole = false }
            }
        }
        return isWhole ? fields : nil
    }

    /// The reason to refuse a field; nil for one that may be there.
    private static func refusal(of name: String, _ isRequest: Bool) -> String? {
        if !FieldSyntax.isName(name) { return "is not the name of a header field" }
        if isRequest, FieldName(name) == .proxyAuthorization {
            return "says who the client is; write client: {user, tag}"
        }
        return self.framing.contains(name.lowercased()) ? "follows from the body; leave it out" : nil
    }
}
