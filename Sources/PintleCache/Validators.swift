// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension String {
    /// Whether both are the same bytes. `==` takes different spellings of a character for one, and quadratic time for
    /// long runs of combining marks.
    func isSpelled(_ other: String) -> Bool { self.utf8.elementsEqual(other.utf8) }
}

/// The marks that tell one state of a representation from another (RFC 9110 §8.8).
struct Validators: Equatable {
    /// ETag, where it is one.
    let tag: EntityTag?
    /// Last-Modified, where it is a date, as the origin wrote it.
    let modified: String?

    init(_ fields: Fields) {
        let tags = fields.values(of: "ETag")
        // Two different tags are none.
        self.tag = tags.first.flatMap { first in tags.allSatisfy { $0.isSpelled(first) } ? EntityTag(first) : nil }
        let dates = fields.values(of: "Last-Modified")
        self.modified =
            dates.count == 1 ? dates.first.flatMap { HTTPDate.seconds(anyForm: $0, near: 0) == nil ? nil : $0 } : nil
    }

    /// The text of the strong validator of a response with these fields; nil where there is none, or where two ETags
    /// leave open which.
    static func strong(_ fields: Fields) -> String? {
        if fields.contains("ETag"), Validators(fields).tag == nil { return nil }
        return RangeValidator.value(for: fields)
    }

    var isEmpty: Bool { self.tag == nil && self.modified == nil }

    /// True where a response with these validators, such as a 304 or the answer to HEAD, is about what is stored with
    /// `stored` (RFC 9111 §4.3.4).
    ///
    /// A strong tag must be that very tag, a weak one the same but for its weakness, and a date, where there is no
    /// tag, the same date. With no validator at all the response is about what was asked for, which is one stored
    /// response here.
    func areAbout(_ stored: Validators) -> Bool {
        if let tag = self.tag {
            guard let other = stored.tag else { return false }
            return tag.isWeak ? tag.weaklyMatches(other) : tag.stronglyMatches(other)
        }
        guard let modified = self.modified else { return true }
        return stored.modified.map { $0.isSpelled(modified) } ?? false
    }
}
