// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text for a message, cut to at most `limit` Unicode scalars: the sender of the text could make the message
    /// arbitrarily long.
    package func cut(to limit: Int) -> String {
        let scalars = self.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return self }
        return String(self[..<end]) + "…"
    }

    /// A name from outside, such as a media type, for a message: at most 80 Unicode scalars.
    package var cutName: String { self.cut(to: 80) }
}
