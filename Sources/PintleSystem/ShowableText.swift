// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether the scalar steers terminals, ends a line, turns the direction of writing or cannot be seen: C0 and C1
    /// controls, U+2028 and U+2029, the format characters, such as U+202E, and what stands for a byte (``systemByte``).
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

    /// The scalar as JSON escapes it: `\u202e`, or two such units. A byte that is not UTF-8 is shown as text, `\\xe9`.
    package var escapedAsInJSON: String {
        if let byte = self.systemByte { return "\\" + byte.asHexadecimalEscape }
        return self.utf16.reduce(into: "") { text, unit in
            let digits = String(unit, radix: 16)
            text += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
        }
    }
}

extension String {
    /// The text with everything deceptive escaped as in JSON, so that JSON stays what it is.
    ///
    /// For whatever quotes others: peers, certificates, files.
    ///
    /// - Parameter keepingLines: whether line feeds stay.
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

    /// The text for a header field, a reason phrase or a line of a protocol that takes ASCII alone: typographic quotation
    /// marks, dashes and dots become those of ASCII, and what else is not printable ASCII a question mark.
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
