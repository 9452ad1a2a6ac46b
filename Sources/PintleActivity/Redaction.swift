// SPDX-License-Identifier: Apache-2.0

/// Takes secrets out of what is about to be written.
///
/// It works where things are encoded, so that no caller can forget it. What is left still tells requests apart: names of
/// query parameters stay, their values become `***`, and so does what has no name.
package enum Redaction: String, Sendable, CaseIterable {
    /// Secrets are replaced.
    case on
    /// Everything is shown: for debugging on a machine of one's own.
    case off

    /// What stands where a secret was.
    package static let mask = "***"

    /// Field names, in lower case, whose values are credentials.
    private static let secretFields: Set<String> = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
    /// Field names, in lower case, whose values are addresses.
    private static let addressFields: Set<String> = ["referer", "location", "content-location"]

    /// The value of a header field as it may be shown.
    ///
    /// - Parameters:
    ///   - name: the field's name, in any case.
    ///   - value: its value.
    ///   - isInjected: whether a route's rules added the field; what an operator injects is taken for a secret.
    package func field(name: String, value: String, isInjected: Bool = false) -> String {
        guard self == .on else { return value }
        let name = name.lowercased()
        if isInjected || Self.secretFields.contains(name) { return Self.mask }
        return Self.addressFields.contains(name) ? self.url(value) : value
    }

    /// A URL, or another form of request target, without user information and without the values of its query.
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
        // A fragment has no parameters by rule, and by custom carries tokens.
        if rest.utf8.count > 1 { result += "#" + Self.mask } else { result += rest }
        return result
    }

    /// Free text, such as an error, with the URLs in it redacted.
    package func text(_ text: String) -> String {
        guard self == .on, text.utf8.contains(UInt8(ascii: ":")) else { return text }
        return text.split(separator: " ", omittingEmptySubsequences: false)
            .map { $0.contains("://") ? self.url(String($0)) : String($0) }
            .joined(separator: " ")
    }

    /// - Parameter query: from its question mark on.
    private static func maskedQuery(_ query: Substring) -> String {
        "?"
            + query.dropFirst().utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { self.maskedPair(Substring($0)) }
            .joined(separator: "&")
    }

    /// The longest name without a value that is taken for a name: longer ones may be a token whose base64 is padded.
    private static let longestBareName = 20

    /// What stands without a name is a value.
    private static func maskedPair(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return pair.isEmpty ? "" : self.mask }
        let value = pair.utf8[pair.utf8.index(after: equals)...]
        let isPadding = value.allSatisfy { $0 == UInt8(ascii: "=") }
        if isPadding, pair.utf8[..<equals].count > self.longestBareName { return self.mask }
        return String(pair[...equals]) + self.mask
    }

    /// - Parameter target: up to the query.
    private static func withoutUser(_ target: Substring) -> String {
        let bytes = target.utf8
        var authority = bytes.startIndex
        if bytes.first == UInt8(ascii: "/") {
            // A path, unless two slashes begin it; an at sign in a path is nobody's password.
            guard target.hasPrefix("//") else { return String(target) }
            authority = bytes.index(authority, offsetBy: 2)
        } else if let scheme = Self.endOfScheme(target) {
            authority = scheme
        }
        let end = bytes[authority...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
        guard let at = bytes[authority..<end].lastIndex(of: UInt8(ascii: "@")) else { return String(target) }
        return String(target[..<authority]) + String(target[bytes.index(after: at)...])
    }

    /// Where the authority begins in `scheme://authority`.
    private static func endOfScheme(_ target: Substring) -> Substring.Index? {
        let bytes = target.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = bytes[bytes.index(after: colon)...]
        guard rest.starts(with: "//".utf8) else { return nil }
        return rest.index(rest.startIndex, offsetBy: 2)
    }
}
