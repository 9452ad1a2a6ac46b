// SPDX-License-Identifier: Apache-2.0

internal import Foundation

// Here and not beside the others: transliteration needs Foundation as a whole, with ICU, which the program is linked without.
extension DefaultFields {
    /// Returns a User-Agent value, `product/version (comment)`, in ASCII (RFC 9110 §10.1.5).
    ///
    /// Other scripts are transliterated to Latin and then to ASCII. Characters that are still not ASCII, and control bytes,
    /// are removed; product and version are not checked otherwise.
    public static func userAgent(product: String, version: String, comment: String? = nil) -> String {
        let text = "\(product)/\(version)" + (comment.map { " (\($0))" } ?? "")
        var bytes = Array(Self.transliterated(text).utf8.filter { $0 >= 0x20 && $0 < 0x7F })
        while bytes.last == 0x20 { bytes.removeLast() }
        return String(decoding: bytes.drop { $0 == 0x20 }, as: UTF8.self)
    }

    private static func transliterated(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 128 }) else { return text }
        let transform = StringTransform("Any-Latin; Latin-ASCII; [:^ASCII:] Remove")
        return text.applyingTransform(transform, reverse: false) ?? text
    }
}
