// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A media type or a range of them, as `content` has them for keys; parameters are left out.
struct MediaRange: Sendable, Equatable {
    /// In lower case, as in `application/*`.
    let text: String

    init(_ value: String) {
        let type = value.utf8.prefix { $0 != UInt8(ascii: ";") }
        self.text = String(
            decoding: ASCII.trimmed(Array(type)[...]).map { ASCII.folded($0) }, as: UTF8.self)
    }

    /// Whether documents of the type are JSON: by name, or by structured suffix (RFC 6839 §3.1). Ranges are not.
    var isJSON: Bool { self.text == "application/json" || self.text == "text/json" || self.text.hasSuffix("+json") }

    /// How well this describes `type`: 3 for the type itself, 2 for `type/*`, 1 for `*/*`, 0 where it does not.
    func rank(for type: MediaRange) -> Int {
        if self.text == type.text { return 3 }
        if self.text == "*/*" { return 1 }
        return self.text.hasSuffix("/*") && type.text.hasPrefix(self.text.dropLast()) ? 2 : 0
    }
}
