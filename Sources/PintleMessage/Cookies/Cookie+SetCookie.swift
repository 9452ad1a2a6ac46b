// SPDX-License-Identifier: Apache-2.0

/// Reading Set-Cookie fields.
extension Cookie {
    /// Reads the value of a Set-Cookie field of a response to a request for `url`. Returns nil if it is malformed, or for a
    /// site that the host may not set cookies for.
    ///
    /// - Parameters:
    ///   - now: in seconds since 1970.
    ///   - isShared: returns true for public suffixes, below which different owners have names.
    package init?(_ line: String, from url: HTTPURL, at now: Int64, isShared: (String) -> Bool) {
        guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        var parts = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        let (name, value) = Self.pair(parts.removeFirst())
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= Self.longest else { return nil }
        let host = url.authority.host
        var attributes = Attributes()
        for part in parts { attributes.take(part) }
        let domain = attributes.domain ?? ""
        if !domain.isEmpty, domain != host {
            guard Self.domain(domain, matches: host), !isShared(domain) else { return nil }
        }
        guard !attributes.isSecure || Self.isSecret(url) else { return nil }
        // A cookie whose Domain is the host itself is also for the names below it, unless the host is an address or a
        // public suffix.
        let isWide = !domain.isEmpty && IPAddress(host) == nil && !isShared(domain)
        self.init(
            name, value, domain: isWide ? domain : host, isHostOnly: !isWide,
            path: attributes.path ?? Self.folder(of: url.path),
            expires: attributes.maxAge.map { $0 <= 0 ? 0 : now.saturatingSum($0) } ?? attributes.expires,
            isSecure: attributes.isSecure, isHTTPOnly: attributes.isHTTPOnly, sameSite: attributes.sameSite)
        guard self.keepsPrefix, !self.isForHost || attributes.domain == nil else { return nil }
    }

    /// True if the prefix of the name forbids a Domain attribute, even for the host itself.
    private var isForHost: Bool { ASCII.equalsIgnoringCase(self.name.utf8.prefix(7), "__Host-".utf8) }

    /// The attributes after the value. If a name repeats, its last attribute counts.
    private struct Attributes {
        var domain: String?
        /// Nil for the folder of the URL's path.
        var path: String?
        var isSecure = false
        var isHTTPOnly = false
        var sameSite: SameSite?
        var expires: Int64?
        var maxAge: Int64?

        mutating func take(_ part: Substring.UTF8View) {
            let place = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = Cookie.trimmed(part[..<place])
            let value = Cookie.trimmed(part[place...].dropFirst())
            guard name.utf8.count <= 16, value.utf8.count <= Cookie.longestAttribute else { return }
            switch name.lowercased() {
            case "domain": self.domain = String(value.drop { $0 == "." }).lowercased()
            case "path": self.path = value.utf8.first == UInt8(ascii: "/") ? value : nil
            case "secure": self.isSecure = true
            case "httponly": self.isHTTPOnly = true
            case "samesite":
                self.sameSite = SameSite.allCases.first { $0.rawValue.lowercased() == value.lowercased() }
            case "expires": self.expires = CookieDate.read(value) ?? self.expires
            case "max-age": self.maxAge = Cookie.seconds(value) ?? self.maxAge
            default: break
            }
        }
    }

    /// The default path of cookies that a URL sets (RFC 6265 §5.1.4).
    private static func folder(of path: String) -> String {
        let bare = path.prefix { $0 != "?" }
        guard bare.hasPrefix("/"), let slash = bare.lastIndex(of: "/"), slash > bare.startIndex else { return "/" }
        return String(bare[..<slash])
    }

    private static func pair(_ text: Substring.UTF8View) -> (String, String) {
        guard let place = text.firstIndex(of: UInt8(ascii: "=")) else { return ("", self.trimmed(text)) }
        return (self.trimmed(text[..<place]), self.trimmed(text[text.index(after: place)...]))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        String(decoding: ASCII.trimmed(Array(text)[...]), as: UTF8.self)
    }

    /// A number of seconds. Numbers beyond `Int64` become its smallest or largest one.
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
