// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleMessage

/// Values of the fields that a serializer adds to requests without them.
public enum DefaultFields {
    /// Returns an Accept-Language value for languages in order of preference: `en-US;q=1, fr;q=0.9` (RFC 9110 §12.5.4).
    ///
    /// Weights fall by 0.1 down to 0.5, so the first six languages count. A text that is not a language tag (letters,
    /// digits and hyphens, or `*`) is left out.
    ///
    /// - Returns: nil if no language remains.
    public static func acceptLanguage(preferring languages: [String]) -> String? {
        let tags = languages.filter(Self.isLanguageRange).prefix(6)
        guard !tags.isEmpty else { return nil }
        return tags.enumerated().map { index, tag in
            index == 0 ? "\(tag);q=1" : "\(tag);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    /// Returns an Authorization value for HTTP Basic: the base64 of `user:password` in UTF-8, on one line (RFC 7617).
    ///
    /// - Throws: `.invalidField` for control characters, and for a colon in the user name, because the name would end
    ///   there.
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

    /// Returns an Authorization value for a bearer token (RFC 6750 §2.1).
    ///
    /// - Throws: `.invalidField` if `token` is malformed. A token has letters, digits and `-._~+/`, and `=` only at its
    ///   end. The message does not repeat it.
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

    /// Returns an Authorization value of any scheme that the caller has made, after a check.
    ///
    /// - Throws: `.invalidField` if it is not a valid field value. The message does not repeat it.
    package static func authorization(_ value: String) throws(SerializationError) -> String {
        guard !value.isEmpty, FieldSyntax.isValue(value) else {
            throw SerializationError(
                .invalidField, "an authorization has a scheme, no control characters, and no spaces at its ends.")
        }
        return value
    }

    private static func isLanguageRange(_ tag: String) -> Bool {
        tag == "*"
            || (!tag.isEmpty
                && tag.utf8.allSatisfy { $0 == 0x2D || ASCII.isDigit($0) || ASCII.lowercased($0) &- 0x61 < 26 })
    }
}
