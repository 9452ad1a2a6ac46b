// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The way between the addresses of a route's upstream and those that the gateway's clients know.
///
/// Clients get paths in place of URLs below the upstream: they resolve them against the URL that they have asked for. So
/// the result is right whatever stands before the gateway and ends TLS there.
struct GatewayAddresses: Sendable {
    let upstream: Upstream
    /// The prefix that the request's path has lost, without a slash at its end; empty if it lost none.
    let prefix: String
    /// The host and port that the client has asked for; port 80 if a client of the gateway named none.
    let gateway: Authority
    /// The path of the request as the client asked the gateway, with its query, and as the upstream got it.
    let asked: (gateway: String, upstream: String)

    /// Changes the fields of a response that lead to the upstream.
    func apply(to fields: inout Fields) {
        for name in ["Location", "Content-Location"] {
            let values = fields.values(of: name)
            if values.count == 1, let mapped = self.location(values[0]) { fields.set(name, mapped) }
        }
        let cookies = fields.values(of: "Set-Cookie")
        let mapped = cookies.map(self.cookie)
        // Lines that stay as they are keep their place and their spelling.
        guard mapped != cookies else { return }
        fields.remove(.setCookie)
        for line in mapped { fields.append("Set-Cookie", line) }
    }

    /// True if paths are the same on both sides.
    private var keepsPaths: Bool {
        self.prefix.isEmpty && (self.upstream.basePath.isEmpty || self.upstream.basePath == "/")
    }

    // MARK: Locations

    /// The reference for the client; nil if the one for the upstream leads elsewhere, or is right as it is.
    func location(_ reference: String) -> String? {
        let hash = reference.firstIndex(of: "#") ?? reference.endIndex
        let (target, fragment) = (reference[..<hash], reference[hash...])
        if target.hasPrefix("/"), !target.hasPrefix("//"), !target.hasPrefix("/\\") {
            return self.keepsPaths ? nil : self.mapped(String(target)).map { $0 + fragment }
        }
        if target.hasPrefix("//") || Self.hasScheme(target) {
            // Without a scheme it has that of the upstream's URL.
            let text = target.hasPrefix("//") ? "\(self.upstream.scheme.rawValue):\(target)" : String(target)
            guard let url = try? HTTPURL(text), url.scheme == self.upstream.scheme,
                url.authority == self.upstream.authority
            else { return nil }
            return self.mapped(url.path).map { $0 + fragment }
        }
        // Without a path it leads to the same request. Browsers read a backslash as a slash, and others do not.
        if self.keepsPaths || target.isEmpty || target.contains("\\") { return nil }
        // It leads elsewhere for the client if it climbs above the base, or if the client named the base without its slash.
        let mapped = self.mapped(Self.merged(target, with: self.asked.upstream))
        let isRight = mapped == Self.resolved(Self.merged(target, with: self.asked.gateway))
        return isRight ? nil : mapped.map { $0 + fragment }
    }

    /// The path of the gateway for a path of the upstream, with its query; nil if that is not below the base.
    private func mapped(_ path: String) -> String? {
        guard let rest = self.rest(of: Self.resolved(path)) else { return nil }
        let mapped = self.prefix + rest
        // A path that begins with two slashes would name another host (RFC 3986 §4.2).
        let isHost = mapped.hasPrefix("//") || mapped.hasPrefix("/\\")
        return (isHost ? "/." : "") + mapped
    }

    /// True if a reference begins with a scheme (RFC 3986 §3.1).
    private static func hasScheme(_ reference: Substring) -> Bool {
        let end = reference.firstIndex { $0 == ":" || $0 == "/" || $0 == "?" } ?? reference.endIndex
        return end > reference.startIndex && reference[end...].hasPrefix(":")
    }

    /// Joins a reference that is relative to a path with that path (RFC 3986 §5.2.3), without resolving its dot segments.
    private static func merged(_ reference: Substring, with path: String) -> String {
        let path = path.prefix { $0 != "?" }
        if reference.hasPrefix("?") { return "\(path)\(reference)" }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return "\(folder)\(reference)"
    }

    /// The path that clients make of a path with its query: they resolve dot segments (RFC 3986 §5.2.4), which may lead out of the
    /// base or into it.
    private static func resolved(_ path: String) -> String {
        let end = path.firstIndex(of: "?") ?? path.endIndex
        let segments = path[..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        // Other paths keep their spelling.
        guard segments.contains(where: { Self.dots($0) > 0 }) else { return path }
        var kept: [Substring] = []
        for segment in segments {
            switch Self.dots(segment) {
            case 0: kept.append(segment)
            case 2: _ = kept.popLast()
            default: break
            }
        }
        // A dot segment at the end stands for a folder.
        if let last = segments.last, Self.dots(last) > 0 { kept.append("") }
        return "/\(kept.joined(separator: "/"))\(path[end...])"
    }

    /// The number of dots of a dot segment, which browsers also read percent-encoded; zero for another segment.
    private static func dots(_ segment: Substring) -> Int {
        switch segment.lowercased() {
        case ".", "%2e": 1
        case "..", ".%2e", "%2e.", "%2e%2e": 2
        default: 0
        }
    }

    /// The rest of a path with its query below the base; nil if it is not below. The base may be named without the slash at its
    /// end.
    private func rest(of path: String) -> String? {
        let end = path.firstIndex(of: "?") ?? path.endIndex
        if "\(path[..<end])/" == self.upstream.basePath {
            let root = self.prefix.isEmpty ? "/" : ""
            return root + path[end...]
        }
        return self.upstream.remainder(of: path)
    }

    // MARK: Cookies

    /// The cookie for the client: without a Domain that holds the upstream and not the gateway, and with the path by which
    /// clients reach the upstream's.
    func cookie(_ line: String) -> String {
        var parts = line.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        // `__Host-` cookies must have the path of the root (RFC 6265bis §4.1.3.2).
        let isForHost = ASCII.equalsIgnoringCase(Self.trimmed(parts[0]).utf8.prefix(7), "__Host-".utf8)
        for index in parts.indices.dropFirst().reversed() {
            let place = parts[index].firstIndex(of: "=") ?? parts[index].endIndex
            let value = Self.trimmed(parts[index][place...].dropFirst())
            switch Self.trimmed(parts[index][..<place]).lowercased() {
            case "domain" where self.excludesGateway(value): parts.remove(at: index)
            case "path" where !isForHost:
                if let path = self.cookiePath(value) { parts[index] = " Path=\(path)" }
            default: break
            }
        }
        return parts.joined(separator: ";")
    }

    private func excludesGateway(_ domain: String) -> Bool {
        let domain = domain.drop { $0 == "." }.lowercased()
        func holds(_ host: String) -> Bool { host == domain || host.hasSuffix(".\(domain)") }
        return holds(self.upstream.authority.host) && !holds(self.gateway.host)
    }

    /// The path of a cookie at the gateway; nil if it stays.
    private func cookiePath(_ path: String) -> String? {
        guard path.hasPrefix("/"), !self.keepsPaths else { return nil }
        let base = self.upstream.basePath.isEmpty ? "/" : self.upstream.basePath
        // It holds all of the upstream.
        if base.hasPrefix(path.hasSuffix("/") ? path : path + "/") { return self.prefix.isEmpty ? "/" : self.prefix }
        guard path.hasPrefix(base) else { return nil }
        // The rest is compared as it is, with its dot segments and slashes (RFC 6265 §5.1.4).
        return self.prefix + "/" + path.dropFirst(base.utf8.count)
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(decoding: ASCII.trimmed(Array(text.utf8)[...]), as: UTF8.self)
    }
}
