// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem

/// Functions that make text of servers harmless for each format.
package enum ReportText {
    /// Returns the text on one line. Characters that control terminals or change the direction of writing become `\u{1B}`.
    package static func line(_ text: String) -> String { self.shown(text, keepingLines: false) }

    /// Returns the text like `line(_:)`, but keeps its line ends.
    package static func block(_ text: String) -> String { self.shown(text, keepingLines: true) }

    private static func shown(_ text: String, keepingLines: Bool) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            let isVisible: Bool =
                switch scalar.properties.generalCategory {
                case .privateUse, .unassigned: false
                default: !scalar.isDeceptive || keepingLines && scalar == "\n"
                }
            if let byte = scalar.systemByte {
                shown += byte.asHexadecimalEscape
            } else if isVisible {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
        return shown
    }

    /// Returns the text as content of an XML 1.0 element or attribute. XML cannot express most control characters.
    package static func xml(_ text: String) -> String {
        var escaped = ""
        for scalar in self.block(text).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&apos;"
            // A plain line end in an attribute would become a space.
            case "\n": escaped += "&#10;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns the text for a paragraph or a table cell, escaped so that nothing in it is markup, a link, a mention or
    /// HTML.
    package static func markdown(_ text: String) -> String {
        var escaped = ""
        for scalar in self.block(text).unicodeScalars {
            switch scalar {
            case "\\", "`", "*", "_", "{", "}", "[", "]", "(", ")", "#", "|", "~", "!", "$":
                escaped += "\\\(scalar)"
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "@": escaped += "&#64;"
            case "\n": escaped += "<br>"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns a path as a URI reference (RFC 3986): relative paths stay relative, absolute ones get the scheme `file`.
    package static func uri(ofFile path: String) -> String {
        let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8
        let encoded = path.systemBytes.reduce(into: "") { encoded, byte in
            if plain.contains(byte) {
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return path.hasPrefix("/") ? "file://\(encoded)" : encoded
    }

    /// Returns the text of a SARIF message, in which unescaped brackets would be links (§3.11.6).
    package static func sarif(_ text: String) -> String {
        self.block(text).reduce(into: "") { escaped, character in
            if "[]\\".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
    }

    /// Returns XML attributes, each with a space before it.
    package static func attributes(_ attributes: [(name: String, value: String)]) -> String {
        attributes.map { " \($0.name)=\"\(self.xml($0.value))\"" }.joined()
    }

    /// Returns a Markdown table of a head and rows; the cells of the rows are escaped here.
    package static func table(_ head: [String], _ rows: [[String]]) -> [String] {
        func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
        return [line(head), line(head.map { _ in "---" })] + rows.map { line($0.map(self.markdown)) }
    }

    /// Returns the duration in seconds, with three decimals.
    package static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = String(attoseconds / 1_000_000_000_000_000)
        return "\(seconds).\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds)"
    }

    /// Returns a number and its noun: `1 error`, `2 errors`.
    package static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
    }
}

extension AuditFinding {
    /// Returns the file, line and column: `pintle.yaml:12:9`; nil if the finding has no line.
    func place(in report: AuditReport) -> String? {
        guard let file = report.file, let position = self.position else { return nil }
        return "\(file):\(position)"
    }

    /// The addresses and the kinds of keys of the finding: `127.0.0.1 127.0.0.2, RSA key`; empty if neither matters.
    var circumstances: String {
        let keys = self.keys.isEmpty ? [] : ["\(self.keys.map(\.label).joined(separator: " and ")) key"]
        return ((self.addresses.isEmpty ? [] : [self.addresses.joined(separator: " ")]) + keys).joined(separator: ", ")
    }

    /// The server; the policy if the finding is about the policy itself.
    var subject: String { self.authority?.description ?? "trust.\(self.policy)" }
}

extension AuditReport {
    /// A summary: `3 servers at 4 addresses: 2 errors, 1 warning, 3 notes`.
    package var conclusion: String {
        let addresses = self.targets.reduce(0) { $0 + $1.addresses.count }
        return "\(ReportText.count(self.targets.count, "server")) at "
            + "\(ReportText.count(addresses, "address", "addresses")): "
            + "\(ReportText.count(self.count(of: .error), "error")), "
            + "\(ReportText.count(self.count(of: .warning), "warning")), "
            + ReportText.count(self.count(of: .note), "note")
    }
}
