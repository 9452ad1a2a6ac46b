// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintleSerialization
internal import PintleTape

/// The program that wrote an HTTP archive, as far as it matters to the reader.
enum ArchiveCreator: Sendable, Equatable {
    /// It masks secrets as Pintle's log does, and leaves no field out.
    case pintle
    /// It writes everything that it has seen.
    case mitmproxy
    /// A browser or another program, which may leave out fields with secrets: since version 130, Chromium does unless it is told
    /// to export sensitive data.
    case other

    init(_ creator: Parameter) {
        switch creator.text("name")?.lowercased() {
        case "pintle": self = .pintle
        case "mitmproxy": self = .mitmproxy
        default: self = .other
        }
    }
}

extension RecordedExchange {
    /// Names of fields that exporters leave out because they hold credentials.
    private static let secretFields = ["authorization", "cookie", "proxy-authorization"]

    /// Reads an entry of an HTTP archive (HAR 1.2).
    ///
    /// - Parameters:
    ///   - entry: the entry.
    ///   - line: the line of the file in which it begins.
    init(archive entry: Parameter, by creator: ArchiveCreator, line: Int) throws(TrafficMismatch) {
        guard let request = entry["request"], let method = request.text("method"), let url = request.text("url") else {
            throw .malformed("an entry has no request with a method and a url")
        }
        // Pintle has a URL of every request that it could read, but of `OPTIONS *`.
        let isAsterisk = url.isEmpty && creator == .pintle && method == "OPTIONS"
        guard isAsterisk || !url.isEmpty || creator != .pintle else { throw .other }
        let lines = try Self.lines(request.elements("headers"))
        let host = lines.first { ["host", ":authority"].contains($0.name.lowercased()) }?.value
        let target = isAsterisk ? "*" : try Self.target(url, of: method)
        self.line = line
        self.head = try Self.head(method: method, target: target, host: host)
        self.id = entry["_pintle"]?.text("id")
        self.time = entry.text("startedDateTime")
        self.address = Self.address(entry.text("serverIPAddress"))
        self.outcome = entry["_pintle"].map(Outcome.init) ?? Outcome()
        self.access = entry["_pintle"].map(Access.init) ?? Access()
        if let response = entry["response"] {
            self.outcome.status = response.number("status").flatMap { $0 > 0 ? $0 : nil }
            for line in (try? Self.lines(response.elements("headers"))) ?? [] where !line.name.hasPrefix(":") {
                self.responseFields.append(line.name, line.value)
            }
        }
        self.unknown.hasQuery = Self.hasMaskedQuery(url)
        // No request is without fields: they were not kept, as by `pintle run --report har=`.
        self.unknown.hasFields = lines.isEmpty
        self.take(lines, by: creator)
        self.takeBody(of: request)
    }

    private mutating func take(_ lines: [ArchiveEntry.Line], by creator: ArchiveCreator) {
        for (name, value) in lines.map({ ($0.name, $0.value) }) {
            // HTTP/2 has the parts of the target as fields; Host is in the head already, and framing is made anew.
            guard !name.hasPrefix(":"), !["host", "content-length", "transfer-encoding"].contains(name.lowercased())
            else { continue }
            if value == Redaction.mask || (creator == .pintle && Self.hasMaskedQuery(value)) {
                self.unknown.fields.append(name.lowercased())
            } else {
                self.head.fields.append(name, value)
            }
        }
        guard creator == .other, !self.unknown.hasFields else { return }
        self.unknown.fields += Self.secretFields.filter { !self.head.fields.contains($0) }
    }

    private mutating func takeBody(of request: Parameter) {
        if self.head.method == "CONNECT" { return }
        let data = request["postData"]
        if let body = ArchiveEntry.body(data) { self.body = body }
        let size = self.body.map(\.count) ?? request.number("bodySize") ?? -1
        if size > 0 || (size == 0 && self.body != nil) {
            self.head.fields.append("Content-Length", String(size))
        } else if size < 0 || data != nil {
            self.unknown.hasBodyPresence = ["POST", "PUT", "PATCH"].contains(self.head.method)
        }
    }

    private static func lines(_ headers: [Parameter]) throws(TrafficMismatch) -> [ArchiveEntry.Line] {
        do throws(ArchiveFault) {
            return try ArchiveEntry.lines(headers)
        } catch {
            throw .malformed(error.reason)
        }
    }

    /// Returns the target of the request line for a URL.
    private static func target(_ url: String, of method: String) throws(TrafficMismatch) -> String {
        // A request to Pintle as a gateway.
        if url.hasPrefix("/") { return url }
        guard let colon = url.firstIndex(of: ":") else { throw .malformed("a request has no absolute URL") }
        var text = url
        switch url[..<colon].lowercased() {
        case "http", "https": break
        case "ws": text = "http" + url[colon...]
        case "wss": text = "https" + url[colon...]
        // `host:port` of a tunnel, as some programs spell it.
        case _ where method == "CONNECT": return url
        // `data:`, `blob:`, `chrome-extension:` and the like reach no proxy.
        default: throw .other
        }
        do throws(HTTPURLError) {
            let parsed = try HTTPURL(Self.withoutUser(text))
            return method == "CONNECT" ? parsed.authority.description : parsed.description
        } catch {
            throw .malformed("\(error)")
        }
    }

    /// Returns the URL without its user information, which is never part of a target.
    private static func withoutUser(_ url: String) -> String {
        guard let start = Self.authorityStart(of: url) else { return url }
        let authority = url[start...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start] + url[url.index(after: at)...])
    }
}
