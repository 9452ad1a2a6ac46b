// SPDX-License-Identifier: Apache-2.0

/// An absolute http or https URL (RFC 9110 §4.2): what a request is sent to.
///
/// It never has user information, which would put a password where URLs are logged, nor a fragment, which is never
/// sent (RFC 9110 §7.1).
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// http or https.
    public let scheme: Scheme
    /// The host in lower case, and the port, which is the scheme's own where the text had none.
    public let authority: Authority
    /// Path and query as on the wire: visible ASCII that begins with a slash.
    public let path: String

    package init(scheme: Scheme, authority: Authority, path: String) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
    }

    /// Reads an absolute URL.
    ///
    /// Scheme and host are compared without regard to case, an empty path becomes `/`, a fragment is dropped.
    /// Characters that a path or query may not have, such as `ä`, `"` or `|`, are percent-encoded as UTF-8; a `%` is
    /// never touched. Dot segments stay: only a reference that is resolved loses them.
    ///
    /// - Throws: `.illegalCharacter` for white space, control characters and backslashes anywhere, since readers
    ///   disagree about what they mean; `.relative`, `.unknownScheme`, `.userInformation`, `.invalidHost` and
    ///   `.invalidPort` for what the names say.
    public init(_ text: String) throws(HTTPURLError) {
        let reference = try URLReference(text, schemeOfBase: nil)
        guard let (scheme, authority) = reference.origin else {
            throw HTTPURLError(.relative, "the URL has no scheme; begin it with https:// or http://", offset: 0)
        }
        let path = reference.path.isEmpty ? "/" : reference.path
        self.init(scheme: scheme, authority: authority, path: path + (reference.query.map { "?\($0)" } ?? ""))
    }

    /// Whether requests go over TLS.
    public var isSecure: Bool { self.scheme == .https }

    /// Whether scheme, host and port are those of `other` (RFC 9110 §4.3.1).
    public func isSameOrigin(as other: HTTPURL) -> Bool { self.origin == other.origin }

    /// Its scheme, host and port.
    public var origin: Origin { Origin(self.scheme, self.authority) }

    /// The URL in normal form: a port only where it is not the scheme's own.
    public var description: String {
        "\(self.scheme.rawValue)://\(self.authority.description(for: self.scheme))\(self.path)"
    }

    /// The name that a file with this URL's content could be saved under: the last segment of the path, decoded.
    ///
    /// It is 1 to 255 bytes of UTF-8, names no folder, and has neither slashes nor control characters. It may still be
    /// the name of a file that exists, or begin with a dot.
    ///
    /// - Returns: nil where the path ends with a slash, or its last segment makes no such name.
    public var fileName: String? {
        let segment = self.pathWithoutQuery.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let name = PercentEscaping.unescape(String(segment)), (1...255).contains(name.utf8.count),
            name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return name
    }

    /// The path up to its query.
    var pathWithoutQuery: Substring { self.path.prefix { $0 != "?" } }
}

/// Why a text is no URL that a request can be sent to.
public struct HTTPURLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text has no scheme, and there is no base to resolve it against.
        case relative
        /// The scheme is neither http nor https.
        case unknownScheme = "unknown-scheme"
        /// The text has a user name or password before its host.
        case userInformation = "user-information"
        /// There is no host, or it has characters that no host may have.
        case invalidHost = "invalid-host"
        /// The port is not 1…65535.
        case invalidPort = "invalid-port"
        /// White space, a control character or a backslash.
        case illegalCharacter = "illegal-character"
    }

    /// What kind of failure it is.
    public let code: Code
    /// What is wrong and what to do, without a word of the text itself: it may hold a secret.
    public let message: String
    /// Where: UTF-8 bytes from the beginning of the text, counted from zero.
    public let offset: Int

    /// Makes an error.
    public init(_ code: Code, _ message: String, offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    /// `message (at byte offset)`.
    public var description: String { "\(self.message) (at byte \(self.offset))" }
}
