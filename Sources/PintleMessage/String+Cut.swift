// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text for a message, at most `limit` characters of it: whoever sends it could make the message as long as he
    /// likes.
    package func cut(to limit: Int) -> String {
        let scalars = self.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return self }
        return String(self[..<end]) + "…"
    }

    /// A name that somebody else chose, such as a media type, as messages show it: at most 80 characters.
    package var cutName: String { self.cut(to: 80) }
}
