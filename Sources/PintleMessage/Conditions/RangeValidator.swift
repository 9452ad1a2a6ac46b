// SPDX-License-Identifier: Apache-2.0

/// The value of If-Range, with which the rest of a representation is sent only if it has not changed (RFC 9110 §13.1.5).
package enum RangeValidator {
    /// Returns the validator for the rest of the body that a response with these fields began.
    ///
    /// A strong entity tag is a validator. If there is no tag, the Last-Modified date is one if it is at least a second
    /// before the response's Date (RFC 9110 §8.8.2.2): any later change then has a later date. The value is the field's own
    /// text, because the origin may compare it byte by byte.
    ///
    /// - Returns: nil if no validator is strong; the transfer must then start again from zero.
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
