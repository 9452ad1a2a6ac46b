// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// One value of `--report`: a format and a file, as in `junit=tests.xml`.
struct ReportOption<Format: RawRepresentable & CaseIterable & Sendable>: Sendable where Format.RawValue == String {
    let format: Format
    let path: String

    init(_ text: String) throws(Malformed) {
        guard let equals = text.firstIndex(of: "=") else { throw Self.missing }
        try self.init(text[..<equals], text[text.index(after: equals)...])
    }

    init(_ format: Substring, _ path: Substring) throws(Malformed) {
        guard let known = Format(rawValue: String(format)) else {
            let hint = String(format).hint(of: Format.allCases.map(\.rawValue))
            throw Malformed("the format is one of \(Self.formats)\(hint)")
        }
        guard !path.isEmpty else { throw Malformed("a file follows the =, as in \(format)=report") }
        // The report would be mixed with the command's own output.
        guard path != "-" else { throw Malformed("standard output is the command's; name a file") }
        (self.format, self.path) = (known, String(path))
    }

    /// The fault of a value that names no format or no file.
    static var missing: Malformed {
        Malformed("a format and a file, as in junit=report.xml; the formats are \(Self.formats)")
    }

    private static var formats: String { Format.allCases.map(\.rawValue).joined(separator: ", ") }
}
