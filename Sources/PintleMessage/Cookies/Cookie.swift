// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One cookie in the stored form of RFC 6265 §5.3. Descriptions and mirrors do not show the value.
public struct Cookie: Sendable, Hashable {
    /// The cross-site requests that may carry a cookie (RFC 6265bis §4.1.2.7). A session has no notion of sites: it stores
    /// the attribute for other readers of the cookie, and sends the cookie regardless.
    public enum SameSite: String, Sendable, Hashable, CaseIterable {
        /// No cross-site request.
        case strict = "Strict"
        /// Only navigations, such as a link that the user follows.
        case lax = "Lax"
        /// All cross-site requests.
        case none = "None"
    }

    /// The name; empty for the rare cookie that is only a value.
    public let name: String
    /// The value, quotation marks included.
    public let value: String
    /// The host of the cookie in lower case, or its domain: see ``isHostOnly``. An IPv6 address has no brackets.
    public let domain: String
    /// True if only the host itself gets the cookie, and no name below it.
    public let isHostOnly: Bool
    /// The path of the cookie, which also covers the paths below it.
    public let path: String
    /// The first second at which the cookie has expired, since 1970-01-01T00:00:00Z; nil for the end of the session.
    public let expires: Int64?
    /// True if the cookie is sent only over TLS, or within this machine.
    public let isSecure: Bool
    /// True if scripts of a page may not see the cookie; sessions treat it like any other.
    public let isHTTPOnly: Bool
    /// Nil if the server has set no SameSite.
    public let sameSite: SameSite?

    /// The maximum size of name and value together, in bytes (RFC 6265 §6.1).
    static let longest = 4096
    /// The maximum size of a path, or of any other attribute, in bytes (RFC 6265bis §5.6).
    static let longestAttribute = 1024

    init(
        _ name: String, _ value: String, domain: String, isHostOnly: Bool, path: String, expires: Int64?,
        isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite?
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// Makes a cookie.
    ///
    /// - Parameters:
    ///   - domain: a host name or an address; a leading dot is removed. An address covers only itself.
    ///   - path: begins with a slash.
    ///   - expires: in seconds since 1970; nil for the end of the session.
    ///   - isHostOnly: true if names below `domain` do not get the cookie.
    /// - Throws: ``CookieError`` if no server could have set such a cookie.
    public init(
        name: String, value: String, domain: String, path: String = "/", expires: Int64? = nil, isSecure: Bool = false,
        isHTTPOnly: Bool = false, sameSite: SameSite? = nil, isHostOnly: Bool = true
    ) throws(CookieError) {
        guard Self.isText(name), !name.utf8.contains(UInt8(ascii: "=")) else { throw .invalidName }
        // Without a name, the text before an equals sign in the value would be read as the name.
        guard Self.isText(value), !(name.isEmpty && (value.isEmpty || value.utf8.contains(UInt8(ascii: "=")))) else {
            throw .invalidValue
        }
        guard name.utf8.count + value.utf8.count <= Self.longest else { throw .tooLong }
        guard let host = Self.host(domain) else { throw .invalidDomain }
        guard path.utf8.first == UInt8(ascii: "/"), Self.isText(path), path.utf8.count <= Self.longestAttribute else {
            throw .invalidPath
        }
        self.init(
            name, value, domain: host, isHostOnly: isHostOnly || IPAddress(host) != nil, path: path, expires: expires,
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite)
        guard self.keepsPrefix else { throw .brokenPrefix }
    }

    /// True if the cookie keeps the promise of a `__Secure-` or `__Host-` prefix in its name (RFC 6265bis §4.1.3).
    ///
    /// Without a name, the value is checked instead, because a server would read it as the name (§5.7).
    var keepsPrefix: Bool {
        let name = (self.name.isEmpty ? self.value : self.name).utf8
        func begins(_ prefix: String) -> Bool { ASCII.equalsIgnoringCase(name.prefix(prefix.utf8.count), prefix.utf8) }
        if begins("__Secure-") { return self.isSecure && !self.name.isEmpty }
        if begins("__Host-") { return self.isSecure && self.isHostOnly && self.path == "/" && !self.name.isEmpty }
        return true
    }

    /// True if `text` can stand in a Cookie field and on a line of a file without escapes: it contains no delimiter.
    private static func isText(_ text: String) -> Bool {
        let bytes = text.utf8
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") } && bytes.first != 0x20
            && bytes.last != 0x20
    }

    /// `text` in the form of hosts in URLs; nil if it is not a host.
    private static func host(_ text: String) -> String? {
        let bare = text.utf8.first == UInt8(ascii: ".") ? text.dropFirst() : text[...]
        let isIPv6 = bare.utf8.contains(UInt8(ascii: ":"))
        return Authority(isIPv6 ? "[\(bare)]" : String(bare), defaultPort: 80)?.host
    }

    /// Compares bytes: `==` compares by canonical equivalence, which servers do not use, and which can take milliseconds.
    static func areSame(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one, other)
        return one.withUTF8 { left in
            other.withUTF8 { right in
                guard left.count == right.count else { return false }
                guard let start = left.baseAddress, let place = right.baseAddress else { return true }
                return memcmp(start, place, left.count) == 0
            }
        }
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name, domain and path.
    public var description: String { "\(self.name) of \(self.isHostOnly ? "" : ".")\(self.domain)\(self.path)" }

    /// Name, domain and path.
    public var debugDescription: String { self.description }

    /// A mirror of everything but the value.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": self.name, "domain": self.domain, "isHostOnly": self.isHostOnly, "path": self.path,
                "expires": self.expires as Any, "isSecure": self.isSecure, "isHTTPOnly": self.isHTTPOnly,
                "sameSite": self.sameSite as Any,
            ])
    }
}

/// The reason why a cookie cannot be made.
public enum CookieError: String, Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The name has a control character, a semicolon, an equals sign, or a space at one of its ends.
    case invalidName
    /// The value has a control character, a semicolon, or a space at one of its ends; or there is no name, and the value is
    /// empty or has an equals sign.
    case invalidValue
    /// Name and value have over 4,096 bytes.
    case tooLong
    /// The domain is neither a host name in ASCII nor an address.
    case invalidDomain
    /// The path does not begin with a slash, has a control character, a semicolon or a space at its end, or is over 1,024
    /// bytes.
    case invalidPath
    /// The name begins with `__Secure-` or `__Host-`, and the cookie breaks the rule of that prefix (RFC 6265bis §4.1.3).
    case brokenPrefix
    /// The domain is a public suffix, below which different owners have names.
    case publicSuffix

    /// One sentence that repeats no part of the cookie.
    public var description: String {
        switch self {
        case .invalidName:
            "the name of a cookie may have neither control characters nor ; and =, and no spaces at its ends"
        case .invalidValue:
            "the value of a cookie may have neither control characters nor ;, and no spaces at its ends; without a "
                + "name it may not be empty or have ="
        case .tooLong: "name and value of a cookie have \(Cookie.longest) bytes at most"
        case .invalidDomain: "the domain of a cookie is a host name in ASCII or an address"
        case .invalidPath:
            "the path of a cookie begins with a slash, has neither control characters nor ;, and "
                + "\(Cookie.longestAttribute) bytes at most"
        case .brokenPrefix:
            "a cookie whose name begins with __Secure- is secure; with __Host- it is for one host, too, and for the path /"
        case .publicSuffix: "strangers have names below the domain, so that no cookie is for all of them"
        }
    }
}
