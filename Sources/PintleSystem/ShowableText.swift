// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// True if the scalar controls terminals, ends a line, changes the direction of writing or is invisible: C0 and C1
    /// controls, U+2028 and U+2029, format characters such as U+202E, and scalars that stand for a byte (``systemByte``).
    package var isDeceptive: Bool {
        switch self.value {
        case 0x20...0x7E: return false
        case 0...0x9F: return true
        default: break
        }
        if self.systemByte != nil { return true }
        switch self.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    /// The JSON escape of the scalar: `\u202e`, or two such units. A byte that is not UTF-8 becomes the text `\\xe9`.
    package var escapedAsInJSON: String {
        if let byte = self.systemByte { return "\\" + byte.asHexadecimalEscape }
        return self.utf16.reduce(into: "") { text, unit in
            let digits = String(unit, radix: 16)
            text += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
        }
    }
}

extension String {
    /// Returns the text with every deceptive character escaped as in JSON, so that JSON stays valid.
    ///
    /// For texts that quote peers, certificates or files.
    ///
    /// - Parameter keepingLines: true if line feeds stay.
    package func showable(keepingLines: Bool) -> String {
        guard self.unicodeScalars.contains(where: { $0.isDeceptive && !(keepingLines && $0 == "\n") }) else {
            return self
        }
        var text = ""
        for scalar in self.unicodeScalars {
            if scalar.isDeceptive, !(keepingLines && scalar == "\n") {
                text += scalar.escapedAsInJSON
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text for a header field, a reason phrase or a line of a protocol that permits only ASCII: typographic quotation
    /// marks, dashes and dots become those of ASCII, and all other characters become question marks.
    package var asASCII: String {
        if self.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
        var text = ""
        for scalar in self.unicodeScalars {
            switch scalar {
            case " "..."~": text.unicodeScalars.append(scalar)
            case "“", "”", "„", "‘", "’", "‚": text += "'"
            case "–", "—", "−", "‐", "‑": text += "-"
            case "…": text += "..."
            case "\u{A0}": text += " "
            case "×": text += "x"
            default: text += "?"
            }
        }
        return text
    }
}
