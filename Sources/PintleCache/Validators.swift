// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension String {
    /// True if both are the same bytes. `==` also accepts different spellings of a character, and takes quadratic time for long
    /// runs of combining marks.
    func isSpelled(_ other: String) -> Bool { self.utf8.elementsEqual(other.utf8) }
}

/// The validators of a representation, which change with its state (RFC 9110 §8.8).
struct Validators: Equatable {
    /// ETag, if it is valid.
    let tag: EntityTag?
    /// Last-Modified as the origin wrote it, if it is a date.
    let modified: String?

    init(_ fields: Fields) {
        let tags = fields.values(of: "ETag")
        // Two different tags count as none.
        self.tag = tags.first.flatMap { first in tags.allSatisfy { $0.isSpelled(first) } ? EntityTag(first) : nil }
        let dates = fields.values(of: "Last-Modified")
        self.modified =
            dates.count == 1 ? dates.first.flatMap { HTTPDate.seconds(anyForm: $0, near: 0) == nil ? nil : $0 } : nil
    }

    /// The text of the strong validator of a response with these fields; nil if there is none, or if there are two different
    /// ETags.
    static func strong(_ fields: Fields) -> String? {
        if fields.contains("ETag"), Validators(fields).tag == nil { return nil }
        return RangeValidator.value(for: fields)
    }

    var isEmpty: Bool { self.tag == nil && self.modified == nil }

    /// True if a response with these validators, for example a 304 or a response to HEAD, concerns the stored response with
    /// `stored` (RFC 9111 §4.3.4).
    ///
    /// A strong tag must match strongly, a weak one weakly. Without a tag, the date must be the same. Without any validator the
    /// response concerns the requested resource, which here is one stored response.
    func areAbout(_ stored: Validators) -> Bool {
        if let tag = self.tag {
            guard let other = stored.tag else { return false }
            return tag.isWeak ? tag.weaklyMatches(other) : tag.stronglyMatches(other)
        }
        guard let modified = self.modified else { return true }
        return stored.modified.map { $0.isSpelled(modified) } ?? false
    }
}
