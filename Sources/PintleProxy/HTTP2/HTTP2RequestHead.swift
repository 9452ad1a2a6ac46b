// SPDX-License-Identifier: Apache-2.0

package import NIOHPACK
package import PintleMessage
internal import PintleSession
internal import PintleSystem
package import PintleWebSocket

/// The head of an HTTP/2 request (RFC 9113 §8.3.1, §8.5; RFC 8441), converted to HTTP/1.1 and parsed by the same strict parser,
/// on which all later code relies.
///
/// A head that HTTP/1.1 cannot express, or that could be read in two ways there, is refused.
package struct HTTP2RequestHead {
    /// The peer that a connection reaches.
    package enum Place {
        /// The origin to which a tunnel leads; with the scheme of the connection inside.
        case tunnel(Scheme)
        /// The proxy, with the server name in the client's handshake, and the port.
        case listener(serverName: String?, port: UInt16?)
    }

    /// The use of a stream.
    package enum Kind {
        /// A request and its response.
        case exchange
        /// A tunnel, if the response is a success (RFC 9113 §8.5).
        case tunnel
        /// A WebSocket, if the response is a success (RFC 8441 §5); Pintle makes the handshake with the origin.
        case webSocket(OpeningHandshake)

        package var isExchange: Bool { if case .exchange = self { true } else { false } }
    }

    package let head: RequestHead
    package let framing: BodyFraming
    package let kind: Kind

    /// Reads the header section of a request.
    ///
    /// - Parameters:
    ///   - endsStream: true if the request ends with its head.
    ///   - place: the peer that the connection reaches.
    /// - Throws: ``WireError``, also for requests that are malformed by RFC 9113 §8.1.1; 501 for an unknown protocol.
    package init(
        _ headers: HPACKHeaders, endsStream: Bool, at place: Place, within limits: HeadLimits
    ) throws(WireError) {
        let section = try Section(headers)
        let method = try section.required(":method")
        let made: (line: String, host: String)
        var more = ""
        if method != "CONNECT" {
            guard section.pseudo[":protocol"] == nil else {
                throw WireError(.malformed, "it has a :protocol, and is no CONNECT")
            }
            self.kind = .exchange
            made = try section.request(method, at: place)
        } else if let name = section.pseudo[":protocol"] {
            guard name.lowercased() == "websocket" else {
                throw WireError(.unknownTransferCoding, "the only :protocol that is known here is websocket")
            }
            let handshake = OpeningHandshake()
            self.kind = .webSocket(handshake)
            made = try section.request("GET", at: place)
            more = "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: \(handshake.keyText)\r\n"
            if !section.hasVersion { more += "sec-websocket-version: 13\r\n" }
        } else {
            self.kind = .tunnel
            made = try section.tunnel(at: place)
        }
        let text = Array("\(made.line) HTTP/1.1\r\nhost: \(made.host)\r\n\(more)".utf8) + section.lines + [0x0D, 0x0A]
        var head = try Self.parse(text, within: limits)
        head.cameByHTTP2 = true
        let length = try head.fields.declaredLength()
        if case .exchange = self.kind {
            guard !endsStream || length ?? 0 == 0 else {
                throw WireError(.malformed, "it ends with its head, and names the length of content")
            }
            self.framing = endsStream ? .none : length.map { .length($0) } ?? .chunked
        } else {
            guard length ?? 0 == 0 else { throw WireError(.malformed, "a CONNECT request has no content") }
            self.framing = .none
        }
        self.head = head
    }

    /// Reads the trailer section of a request (RFC 9113 §8.1).
    ///
    /// - Throws: ``WireError``, also for fields that HTTP/1.1 does not allow there.
    package static func trailers(_ headers: HPACKHeaders, within limits: HeadLimits) throws(WireError) -> Fields {
        for (name, value, _) in headers {
            guard !name.hasPrefix(":") else { throw WireError(.malformed, "a pseudo field is among the trailers") }
            try Section.check(value)
        }
        return try headers.fields(within: limits)
    }

    private static func parse(_ text: [UInt8], within limits: HeadLimits) throws(WireError) -> RequestHead {
        var parser = RequestParser(limits: limits)
        var result: Result<(head: RequestHead, length: Int)?, WireError> = .success(nil)
        text.withUnsafeBytes { bytes in
            result = Result { () throws(WireError) in try parser.parse(bytes) }
        }
        guard let (head, count) = try result.get(), count == text.count else {
            throw WireError(.malformed, "its head ends too early")
        }
        return head
    }
}

/// A header section, separated into pseudo fields and others.
private struct Section {
    private(set) var pseudo: [String: String] = [:]
    /// The fields as lines of HTTP/1.1, without Host.
    private(set) var lines: [UInt8] = []
    private var host: String?
    /// True if the request has a WebSocket version.
    private(set) var hasVersion = false

    init(_ headers: HPACKHeaders) throws(WireError) {
        var cookies: [String] = []
        var hasFields = false
        for (name, value, _) in headers {
            try Self.check(value)
            if name.hasPrefix(":") {
                guard !hasFields else { throw WireError(.malformed, "a pseudo field follows another field") }
                guard Self.known.contains(name) else { throw WireError(.malformed, "a pseudo field is not known") }
                guard self.pseudo.updateValue(try Self.text(value), forKey: name) == nil else {
                    throw WireError(.malformed, "\(name) is there twice")
                }
                continue
            }
            hasFields = true
            guard !name.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || 0x41...0x5A ~= $0 || $0 == 0x3A }) else {
                throw WireError(.malformed, "a field name has a character that HTTP/2 forbids")
            }
            switch name {
            case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
                throw WireError(.malformed, "it has \(name), which HTTP/2 forbids")
            case "te" where value != "trailers": throw WireError(.malformed, "HTTP/2 has no TE but trailers")
            case "host":
                guard self.host == nil else { throw WireError(.malformed, "there are two Hosts") }
                self.host = try Self.text(value)
            // HTTP/1.1 has one line for all cookies (RFC 9113 §8.2.3).
            case "cookie": cookies.append(value)
            // The key is used only between the proxy and the origin (RFC 8441 §5).
            case "sec-websocket-key" where self.pseudo[":protocol"] != nil: break
            default:
                if name == "sec-websocket-version" { self.hasVersion = true }
                self.add(name, value)
            }
        }
        if !cookies.isEmpty { self.add("cookie", cookies.joined(separator: "; ")) }
    }

    private mutating func add(_ name: String, _ value: String) {
        self.lines += name.utf8
        self.lines += ": ".utf8
        self.lines.append(latin1: value)
        self.lines += "\r\n".utf8
    }

    /// The text of a value that is interpreted.
    private static func text(_ value: String) throws(WireError) -> String {
        guard let text = String(validating: value.latin1Bytes, as: UTF8.self) else {
            throw WireError(.malformed, "a pseudo field or Host is not UTF-8")
        }
        // Compared before the parser refuses what is no ASCII.
        return text.streamSafe
    }

    private static let known: Set<String> = [":method", ":scheme", ":authority", ":path", ":protocol"]

    /// Refuses values that RFC 9113 §8.2.1 forbids, or that would change their meaning in HTTP/1.1.
    static func check(_ value: String) throws(WireError) {
        let bytes = value.utf8
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw WireError(.malformed, "a field has a control character")
        }
        if let first = bytes.first, let last = bytes.last, [first, last].contains(where: { $0 == 0x20 || $0 == 0x09 }) {
            throw WireError(.malformed, "a field value begins or ends with a blank")
        }
    }

    func required(_ name: String) throws(WireError) -> String {
        guard let value = self.pseudo[name], !value.isEmpty else { throw WireError(.malformed, "it has no \(name)") }
        return value
    }

    /// Returns the beginning of the request line, and the Host.
    func request(
        _ method: String, at place: HTTP2RequestHead.Place
    ) throws(WireError) -> (line: String, host: String) {
        let name = try self.required(":scheme")
        guard let scheme = Scheme(rawValue: name) else {
            throw WireError(.malformed, "its :scheme is neither http nor https")
        }
        let path = try self.required(":path")
        guard path.hasPrefix("/") || path == "*" && method == "OPTIONS" else {
            throw WireError(.malformed, "its :path is no path")
        }
        let authority = try self.authority(defaultPort: scheme.defaultPort)
        let form = "\(method) \(path)"
        switch place {
        case .tunnel(let own):
            guard own == scheme else {
                throw WireError(.malformed, "its :scheme is not the connection's, \(own.rawValue)")
            }
            return (form, authority)
        case .listener(let serverName, let port):
            if scheme == .https, Self.isOwn(authority, serverName, port) { return (form, authority) }
            return ("\(method) \(scheme.rawValue)://\(authority)\(path == "*" ? "" : path)", authority)
        }
    }

    /// True if the client takes the proxy for the server of its request, because its handshake was for that server.
    private static func isOwn(_ authority: String, _ serverName: String?, _ port: UInt16?) -> Bool {
        guard let named = Authority(authority, defaultPort: Scheme.https.defaultPort) else { return false }
        if let serverName { return Authority(serverName, defaultPort: named.port)?.host == named.host }
        // A handshake contains no address; so only the port can be compared.
        return IPAddress(named.host) != nil && named.port == port
    }

    func tunnel(at place: HTTP2RequestHead.Place) throws(WireError) -> (line: String, host: String) {
        guard case .listener = place else { throw WireError(.malformed, "a tunnel has no tunnel inside") }
        guard self.pseudo[":scheme"] == nil, self.pseudo[":path"] == nil else {
            throw WireError(.malformed, "a CONNECT request has neither :scheme nor :path")
        }
        _ = try self.required(":authority")
        let authority = try self.authority(defaultPort: Scheme.https.defaultPort)
        return ("CONNECT \(authority)", authority)
    }

    private func authority(defaultPort: UInt16) throws(WireError) -> String {
        let authority = self.pseudo[":authority"]
        if let authority, let host, authority != host {
            // Different spellings of one server are accepted.
            let named = Authority(authority, defaultPort: defaultPort)
            guard let named, named == Authority(host, defaultPort: defaultPort) else {
                throw WireError(.malformed, "its :authority and its Host do not agree")
            }
        }
        guard let named = authority ?? self.host, !named.isEmpty else {
            throw WireError(.malformed, "it has neither :authority nor Host")
        }
        return named
    }
}
