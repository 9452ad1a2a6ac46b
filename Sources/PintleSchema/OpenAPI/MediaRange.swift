// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// A media type or a range of media types, without parameters, as the keys of `content` have them.
struct MediaRange: Sendable, Equatable {
    /// The type in lower case, as in `application/*`.
    let text: String

    init(_ value: String) { self.text = MediaType.essence(of: value) }

    /// True if documents of the type are JSON. False for a range.
    var isJSON: Bool { MediaType.isJSON(self.text) }

    /// The precision with which this describes `type`: 3 for the type itself, 2 for `type/*`, 1 for `*/*`, 0 if it does not.
    func rank(for type: MediaRange) -> Int {
        if self.text == type.text { return 3 }
        if self.text == "*/*" { return 1 }
        return self.text.hasSuffix("/*") && type.text.hasPrefix(self.text.dropLast()) ? 2 : 0
    }
}
