// SPDX-License-Identifier: Apache-2.0

/// An absolute http or https URL (RFC 9110 §4.2), to which a request can be sent.
///
/// It has no user information, so that no password gets into logs of URLs, and no fragment, because fragments are never
/// sent (RFC 9110 §7.1).
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// http or https.
    public let scheme: Scheme
    /// The host in lower case, and the port; the default port of the scheme if the text has none.
    public let authority: Authority
    /// Path and query in their wire form: visible ASCII that begins with a slash.
    public let path: String

    package init(scheme: Scheme, authority: Authority, path: String) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
    }

    /// Reads an absolute URL.
    ///
    /// Scheme and host are converted to lower case, an empty path becomes `/`, a fragment is dropped. Characters that a
    /// path or query may not have, such as `ä`, `"` or `|`, are percent-encoded as UTF-8; a `%` is never changed. Dot
    /// segments stay: only resolving a reference removes them.
    ///
    /// - Throws: `.illegalCharacter` for white space, control characters and backslashes anywhere, because recipients
    ///   disagree about their meaning; `.relative`, `.unknownScheme`, `.userInformation`, `.invalidHost` and `.invalidPort`
    ///   as their names say.
    public init(_ text: String) throws(HTTPURLError) {
        let reference = try URLReference(text, schemeOfBase: nil)
        guard let (scheme, authority) = reference.origin else {
            throw HTTPURLError(.relative, "the URL has no scheme; begin it with https:// or http://", offset: 0)
        }
        let path = reference.path.isEmpty ? "/" : reference.path
        self.init(scheme: scheme, authority: authority, path: path + (reference.query.map { "?\($0)" } ?? ""))
    }

    /// True if requests go over TLS.
    public var isSecure: Bool { self.scheme == .https }

    /// True if scheme, host and port equal those of `other` (RFC 9110 §4.3.1).
    public func isSameOrigin(as other: HTTPURL) -> Bool { self.origin == other.origin }

    /// The URL's scheme, host and port.
    public var origin: Origin { Origin(self.scheme, self.authority) }

    /// The URL in normal form: with a port only if it is not the default of the scheme.
    public var description: String {
        "\(self.scheme.rawValue)://\(self.authority.description(for: self.scheme))\(self.path)"
    }

    /// A name for saving the content of this URL as a file: the last segment of the path, decoded.
    ///
    /// It is 1 to 255 bytes of UTF-8, is neither `.` nor `..`, and has neither slashes nor control characters. A file with
    /// this name may exist, and the name may begin with a dot.
    ///
    /// - Returns: nil if the path ends with a slash, or its last segment makes no such name.
    public var fileName: String? {
        let segment = self.pathWithoutQuery.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let name = PercentEscaping.unescape(String(segment)), (1...255).contains(name.utf8.count),
            name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return name
    }

    /// The path without its query.
    var pathWithoutQuery: Substring { self.path.prefix { $0 != "?" } }
}

/// The reason why a text is not a URL that a request can be sent to.
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
        /// The port is not a number from 1 to 65535.
        case invalidPort = "invalid-port"
        /// The text has white space, a control character or a backslash.
        case illegalCharacter = "illegal-character"
    }

    /// The kind of failure.
    public let code: Code
    /// The problem and its solution, without any part of the text: it may contain a secret.
    public let message: String
    /// The place of the problem: the number of UTF-8 bytes before it in the text.
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
