// SPDX-License-Identifier: Apache-2.0

/// One cookie as RFC 6265 §5.3 stores it.
package struct Cookie: Sendable, Equatable {
    package let name: String
    package let value: String
    /// The host that set it, or the domain that it is for.
    package let domain: String
    /// True where only the host itself gets it.
    package let isHostOnly: Bool
    package let path: String
    package let isSecure: Bool
    /// The first moment at which it does not count, in seconds since 1970; nil for the end of the session.
    package let expiry: Int64?
    /// Its place among all that were made.
    var sequence: UInt64 = 0

    /// The most bytes of name and value (RFC 6265 §6.1).
    private static let longest = 4096

    /// Reads the value of a Set-Cookie field of a response to a request for `url`; nil where the cookie is none, or is for
    /// a site that the host may not set cookies for.
    ///
    /// - Parameters:
    ///   - now: in seconds since 1970.
    ///   - isShared: tells whether strangers have names below a name.
    package init?(_ line: String, from url: HTTPURL, at now: Int64, isShared: (String) -> Bool) {
        guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        var parts = line.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)[...]
        let (name, value) = Self.pair(parts.removeFirst())
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= Self.longest else { return nil }
        let host = url.authority.host
        var (domain, isSecure): (String?, Bool) = (nil, false)
        var (expires, maxAge): (Int64?, Int64?) = (nil, nil)
        var path = Self.folder(of: url.path)
        for part in parts {
            // The last attribute of a name counts.
            let (name, value) = Self.attribute(part)
            switch name {
            case "domain": domain = String(value.drop { $0 == "." }).lowercased()
            case "path": path = value.hasPrefix("/") ? value : Self.folder(of: url.path)
            case "secure": isSecure = true
            case "expires": expires = CookieDate.read(value) ?? expires
            case "max-age": maxAge = Self.seconds(value) ?? maxAge
            default: break
            }
        }
        if let domain, !domain.isEmpty, domain != host {
            guard Self.domain(domain, matches: host), !isShared(domain) else { return nil }
        }
        guard !isSecure || Self.isSecret(url), Self.keepsPrefix(name, isSecure, domain, path) else { return nil }
        // A cookie for the host by name is for those below it, too, unless it is an address or a registry's.
        let isWide = domain.map { !$0.isEmpty && IPAddress(host) == nil && !isShared($0) } ?? false
        self.name = name
        self.value = value
        self.domain = isWide ? domain ?? host : host
        self.isHostOnly = !isWide
        self.path = path
        self.isSecure = isSecure
        self.expiry = maxAge.map { $0 <= 0 ? 0 : now.saturatingSum($0) } ?? expires
    }

    /// Tells whether a cookie is what its name says of it (RFC 6265bis §4.1.3).
    private static func keepsPrefix(_ name: String, _ isSecure: Bool, _ domain: String?, _ path: String) -> Bool {
        let name = name.lowercased()
        if name.hasPrefix("__secure-") { return isSecure }
        if name.hasPrefix("__host-") { return isSecure && domain == nil && path == "/" }
        return true
    }

    /// Tells whether it would take the place of `other`, or shadow it, though whoever set it in clear text may not (RFC 6265bis
    /// §5.7): somebody on the way could.
    func shadows(_ other: Cookie) -> Bool {
        guard other.isSecure, !self.isSecure, self.name == other.name else { return false }
        return Self.domain(self.domain, matches: other.domain) || Self.domain(other.domain, matches: self.domain)
    }

    /// Tells whether `other` takes its place.
    func isSame(as other: Cookie) -> Bool {
        self.name == other.name && self.domain == other.domain && self.path == other.path
            && self.isHostOnly == other.isHostOnly
    }

    func hasExpired(at now: Int64) -> Bool { self.expiry.map { $0 <= now } ?? false }

    /// Tells whether a request for `url` gets it (RFC 6265 §5.4).
    package func belongs(to url: HTTPURL) -> Bool {
        let host = url.authority.host
        guard self.isHostOnly ? host == self.domain : Self.domain(self.domain, matches: host) else { return false }
        return self.matches(path: url.path) && (!self.isSecure || Self.isSecret(url))
    }

    private func matches(path: String) -> Bool {
        let bare = path.prefix { $0 != "?" }
        guard bare != self.path else { return true }
        guard bare.hasPrefix(self.path) else { return false }
        return self.path.hasSuffix("/") || bare.dropFirst(self.path.count).first == "/"
    }

    /// RFC 6265 §5.1.3.
    private static func domain(_ domain: String, matches host: String) -> Bool {
        host == domain || (host.hasSuffix(".\(domain)") && IPAddress(host) == nil)
    }

    /// Tells whether nobody on the way can read what is sent: this machine talks to itself in secret, too.
    package static func isSecret(_ url: HTTPURL) -> Bool {
        let host = url.authority.host
        return url.isSecure || host.hasSuffix(".localhost") || ["localhost", "127.0.0.1", "::1"].contains(host)
    }

    /// RFC 6265 §5.1.4.
    private static func folder(of path: String) -> String {
        let bare = path.prefix { $0 != "?" }
        guard bare.hasPrefix("/"), let slash = bare.lastIndex(of: "/"), slash > bare.startIndex else { return "/" }
        return String(bare[..<slash])
    }

    private static func pair(_ text: String) -> (String, String) {
        guard let place = text.firstIndex(of: "=") else { return ("", text) }
        return (Self.trimmed(text[..<place]), Self.trimmed(text[text.index(after: place)...]))
    }

    private static func attribute(_ text: String) -> (String, String) {
        guard let place = text.firstIndex(of: "=") else { return (text.lowercased(), "") }
        return (Self.trimmed(text[..<place]).lowercased(), Self.trimmed(text[text.index(after: place)...]))
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(decoding: ASCII.trimmed(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// A number of seconds; what is too large is as long as possible.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text) ?? (digits.count < text.utf8.count ? .min : .max)
    }
}

extension Int64 {
    fileprivate func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, isOver) = self.addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
