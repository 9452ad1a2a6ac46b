// SPDX-License-Identifier: Apache-2.0

/// Removes secrets from text that is about to be logged.
///
/// Encoders call it, so that no caller can forget it. Requests can still be told apart: query parameters keep their names,
/// and their values become `***`, as do parts without a name.
package enum Redaction: String, Sendable, CaseIterable {
    /// Replaces secrets.
    case on
    /// Shows everything: for debugging on a developer's own machine.
    case off

    /// The text that replaces a secret.
    package static let mask = "***"

    /// Names of fields that hold credentials, in lower case.
    private static let secretFields: Set<String> = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
    /// Names of fields that hold URLs, in lower case.
    private static let addressFields: Set<String> = ["referer", "location", "content-location"]

    /// Returns the value of a header field in a form that may be shown.
    ///
    /// - Parameters:
    ///   - name: the field's name, in any case.
    ///   - value: its value.
    ///   - isInjected: true if a route's rules added the field; a value that the operator injects counts as a secret.
    package func field(name: String, value: String, isInjected: Bool = false) -> String {
        guard self == .on else { return value }
        let name = name.lowercased()
        if isInjected || Self.secretFields.contains(name) { return Self.mask }
        return Self.addressFields.contains(name) ? self.url(value) : value
    }

    /// Returns a URL, or another form of request target, without its user information and its query values.
    package func url(_ url: String) -> String {
        guard self == .on else { return url }
        let bytes = url.utf8
        let query = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        guard query < bytes.endIndex || bytes.contains(UInt8(ascii: "@")) else { return url }

        var result = Self.withoutUser(url[..<query])
        var rest = url[query...]
        if rest.utf8.first == UInt8(ascii: "?") {
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
            result += Self.maskedQuery(rest[..<end])
            rest = rest[end...]
        }
        // A fragment has no parameters by specification, and in practice carries tokens.
        if rest.utf8.count > 1 { result += "#" + Self.mask } else { result += rest }
        return result
    }

    /// Returns free text, such as an error, with the URLs in it redacted.
    package func text(_ text: String) -> String {
        guard self == .on, text.utf8.contains(UInt8(ascii: ":")) else { return text }
        return text.split(separator: " ", omittingEmptySubsequences: false)
            .map { $0.contains("://") ? self.url(String($0)) : String($0) }
            .joined(separator: " ")
    }

    /// - Parameter query: the query with its question mark.
    private static func maskedQuery(_ query: Substring) -> String {
        "?"
            + query.dropFirst().utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { self.maskedPair(Substring($0)) }
            .joined(separator: "&")
    }

    /// The maximum length of a name without a value: a longer one may be a token in padded base64.
    private static let longestBareName = 20

    /// Returns a query parameter with its value masked. A part without a name counts as a value.
    private static func maskedPair(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return pair.isEmpty ? "" : self.mask }
        let value = pair.utf8[pair.utf8.index(after: equals)...]
        let isPadding = value.allSatisfy { $0 == UInt8(ascii: "=") }
        if isPadding, pair.utf8[..<equals].count > self.longestBareName { return self.mask }
        return String(pair[...equals]) + self.mask
    }

    /// - Parameter target: the target without its query.
    private static func withoutUser(_ target: Substring) -> String {
        let bytes = target.utf8
        var authority = bytes.startIndex
        if bytes.first == UInt8(ascii: "/") {
            // A path, unless it begins with two slashes; an at sign in a path does not end a password.
            guard target.hasPrefix("//") else { return String(target) }
            authority = bytes.index(authority, offsetBy: 2)
        } else if let scheme = Self.endOfScheme(target) {
            authority = scheme
        }
        let end = bytes[authority...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
        guard let at = bytes[authority..<end].lastIndex(of: UInt8(ascii: "@")) else { return String(target) }
        return String(target[..<authority]) + String(target[bytes.index(after: at)...])
    }

    /// Returns the index at which the authority of `scheme://authority` begins.
    private static func endOfScheme(_ target: Substring) -> Substring.Index? {
        let bytes = target.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = bytes[bytes.index(after: colon)...]
        guard rest.starts(with: "//".utf8) else { return nil }
        return rest.index(rest.startIndex, offsetBy: 2)
    }
}
