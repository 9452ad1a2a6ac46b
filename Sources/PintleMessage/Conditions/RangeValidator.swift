// SPDX-License-Identifier: Apache-2.0

/// What goes into If-Range, so that more of a representation is sent only if it is still the same (RFC 9110 §13.1.5).
package enum RangeValidator {
    /// The validator for the rest of what a response with these fields began.
    ///
    /// A strong entity tag is one. Where there is no tag, the Last-Modified date is one if it is at least a second
    /// before the response's Date (RFC 9110 §8.8.2.2): a later change then has a later date. The value is the field's
    /// own text, as the origin may compare it letter by letter.
    ///
    /// - Returns: nil where no validator is strong; what was begun can only be started again from zero.
    package static func value(for fields: Fields) -> String? {
        if let tag = fields["ETag"] {
            return EntityTag(tag).flatMap { $0.isWeak ? nil : tag }
        }
        guard let text = fields["Last-Modified"], let modified = HTTPDate.seconds(text),
            let sent = fields[.date].flatMap(HTTPDate.seconds), modified < sent
        else { return nil }
        return text
    }
}
