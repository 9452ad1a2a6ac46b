// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// One cookie as RFC 6265 §5.3 stores it.
struct Cookie: Sendable, Equatable {
    let name: String
    let value: String
    /// The host that set it, or the domain that it is for.
    let domain: String
    /// True where only the host itself gets it.
    let isHostOnly: Bool
    let path: String
    let isSecure: Bool
    /// The first moment at which it does not count; nil for the end of the session.
    let expiry: UnixTime?
    /// Its place among all that were made.
    var sequence: UInt64 = 0

    /// The most bytes of name and value (RFC 6265 §6.1).
    private static let longest = 4096

    /// Reads the value of a Set-Cookie field of a response to a request for `url`; nil where the cookie is none, or is for
    /// a site that the host may not set cookies for.
    init?(_ line: String, from url: HTTPURL, at now: UnixTime) {
        guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        var parts = line.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)[...]
        let (name, value) = Self.pair(parts.removeFirst())
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= Self.longest else { return nil }
        let host = url.authority.host
        var (domain, isSecure): (String?, Bool) = (nil, false)
        var (expires, maxAge): (UnixTime?, Int64?) = (nil, nil)
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
            guard Self.domain(domain, matches: host), !PublicSuffixes.isShared(domain) else { return nil }
        }
        guard !isSecure || Self.isSecret(url), Self.keepsPrefix(name, isSecure, domain, path) else { return nil }
        // A cookie for the host by name is for those below it, too, unless it is an address or a registry's.
        let isWide = domain.map { !$0.isEmpty && IPAddress(host) == nil && !PublicSuffixes.isShared($0) } ?? false
        self.name = name
        self.value = value
        self.domain = isWide ? domain ?? host : host
        self.isHostOnly = !isWide
        self.path = path
        self.isSecure = isSecure
        self.expiry = maxAge.map { UnixTime(seconds: $0 <= 0 ? 0 : now.seconds.saturatingSum($0)) } ?? expires
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

    func hasExpired(at now: UnixTime) -> Bool { self.expiry.map { $0 <= now } ?? false }

    /// Tells whether a request for `url` gets it (RFC 6265 §5.4).
    func belongs(to url: HTTPURL) -> Bool {
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
    static func isSecret(_ url: HTTPURL) -> Bool {
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

/// Reads the dates of cookies, which come in many forms (RFC 6265 §5.1.1).
enum CookieDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// The moment; nil where the text has no day, month, year and time of day.
    static func read(_ text: String) -> UnixTime? {
        var (day, month, year): (Int64?, Int?, Int64?) = (nil, nil, nil)
        var time: Int64?
        for token in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != ":" }) {
            let token = token.lowercased()
            if time == nil, let found = Self.timeOfDay(token) {
                time = found
            } else if day == nil, token.utf8.count <= 2, let number = Int64(token) {
                day = number
            } else if month == nil, let place = Self.months.firstIndex(where: token.hasPrefix) {
                month = place + 1
            } else if year == nil, (2...4).contains(token.utf8.count), let number = Int64(token) {
                year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
            }
        }
        guard let day, let month, let year, let time, year >= 1601,
            let date = CivilDay(year: year, month: month, day: day)
        else { return nil }
        return UnixTime(seconds: date.daysSince1970 * 86_400 + time)
    }

    private static func timeOfDay(_ token: String) -> Int64? {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ (1...2).contains($0.utf8.count) }) else { return nil }
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] < 60 else { return nil }
        return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    }
}
