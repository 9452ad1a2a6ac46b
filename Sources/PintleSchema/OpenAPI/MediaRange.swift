// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A media type or a range of media types, without parameters, as the keys of `content` have them.
struct MediaRange: Sendable, Equatable {
    /// The type in lower case, as in `application/*`.
    let text: String

    init(_ value: String) {
        let type = value.utf8.prefix { $0 != UInt8(ascii: ";") }
        self.text = String(
            decoding: ASCII.trimmed(Array(type)[...]).map { ASCII.folded($0) }, as: UTF8.self)
    }

    /// True if documents of the type are JSON: by name, or by structured suffix (RFC 6839 §3.1). False for a range.
    var isJSON: Bool { self.text == "application/json" || self.text == "text/json" || self.text.hasSuffix("+json") }

    /// The precision with which this describes `type`: 3 for the type itself, 2 for `type/*`, 1 for `*/*`, 0 if it does not.
    func rank(for type: MediaRange) -> Int {
        if self.text == type.text { return 3 }
        if self.text == "*/*" { return 1 }
        return self.text.hasSuffix("/*") && type.text.hasPrefix(self.text.dropLast()) ? 2 : 0
    }
}
