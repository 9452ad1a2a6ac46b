// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Values of the fields that a serializer adds to requests which lack them.
public enum DefaultFields {
    /// An Accept-Language value from languages in order of preference: `en-US;q=1, fr;q=0.9` (RFC 9110 §12.5.4).
    ///
    /// Weights go down by 0.1 to 0.5, so the first six languages count. What is no language tag (letters, digits and
    /// hyphens, or `*`) is left out.
    ///
    /// - Returns: nil where no language remains.
    public static func acceptLanguage(preferring languages: [String]) -> String? {
        let tags = languages.filter(Self.isLanguageRange).prefix(6)
        guard !tags.isEmpty else { return nil }
        return tags.enumerated().map { index, tag in
            index == 0 ? "\(tag);q=1" : "\(tag);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    /// A User-Agent value, `product/version (comment)`, in ASCII (RFC 9110 §10.1.5).
    ///
    /// Other scripts are transliterated to Latin and then to ASCII; what still is not ASCII, and control bytes, are
    /// removed. Product and version are otherwise taken as given.
    public static func userAgent(product: String, version: String, comment: String? = nil) -> String {
        let text = "\(product)/\(version)" + (comment.map { " (\($0))" } ?? "")
        var bytes = Array(Self.transliterated(text).utf8.filter { $0 >= 0x20 && $0 < 0x7F })
        while bytes.last == 0x20 { bytes.removeLast() }
        return String(decoding: bytes.drop { $0 == 0x20 }, as: UTF8.self)
    }

    /// An Authorization value for HTTP Basic: the base64 of the UTF-8 of `user:password`, in one line (RFC 7617).
    ///
    /// - Throws: `.invalidField` for control characters and for a colon in the user name, which would move the border
    ///   between name and password.
    public static func basicAuthorization(user: String, password: String) throws(SerializationError) -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw SerializationError(.invalidField, "a user name for Basic authorization may not have a colon.")
        }
        let text = "\(user):\(password)"
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw SerializationError(.invalidField, "Basic authorization may not have control characters.")
        }
        return "Basic \(Data(text.utf8).base64EncodedString())"
    }

    /// An Authorization value for a bearer token (RFC 6750 §2.1).
    ///
    /// - Throws: `.invalidField` for what is no token: letters, digits and `-._~+/`, with `=` at the end only. The
    ///   message does not repeat it.
    public static func bearerAuthorization(token: String) throws(SerializationError) -> String {
        let body = token.utf8.prefix { $0 != UInt8(ascii: "=") }
        guard !body.isEmpty,
            body.allSatisfy({
                ASCII.isDigit($0) || ASCII.lowercased($0) &- 0x61 < 26 || "-._~+/".utf8.contains($0)
            }),
            token.utf8[body.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") })
        else {
            throw SerializationError(
                .invalidField, "a bearer token has letters, digits and -._~+/, and = only at its end (RFC 6750).")
        }
        return "Bearer \(token)"
    }

    /// A value of Authorization as somebody else has made it, for any scheme.
    ///
    /// - Throws: `.invalidField` for what is no value of a field. The message does not repeat it.
    package static func authorization(_ value: String) throws(SerializationError) -> String {
        guard !value.isEmpty, FieldSyntax.isValue(value) else {
            throw SerializationError(
                .invalidField, "an authorization has a scheme, no control characters, and no spaces at its ends.")
        }
        return value
    }

    private static func transliterated(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 128 }) else { return text }
        let transform = StringTransform("Any-Latin; Latin-ASCII; [:^ASCII:] Remove")
        return text.applyingTransform(transform, reverse: false) ?? text
    }

    private static func isLanguageRange(_ tag: String) -> Bool {
        tag == "*"
            || (!tag.isEmpty
                && tag.utf8.allSatisfy { $0 == 0x2D || ASCII.isDigit($0) || ASCII.lowercased($0) &- 0x61 < 26 })
    }
}
