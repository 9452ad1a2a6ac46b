// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The value of curl's `--pinnedpubkey`: `sha256//BASE64`, several of them separated by semicolons.
///
/// It is read alone, in a curl command, or in a file for `curl --config`, in which `#` begins a comment. A set with notes
/// is written as such a file, since the value alone has no place for them.
enum CurlFormat {
    private static let option = "pinnedpubkey"

    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        let lines = PinReader.lines(try PinReader.text(bytes, file))
        var notes = try Notes(lines: lines, file: file)
        var content = PinFormat.Content(sets: [], remarks: [])
        for (index, line) in lines.enumerated() {
            let (number, text) = (index + 1, line.trimmed)
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            guard let value = Self.value(in: text) else {
                content.remarks.append("\(file):\(number): other options of curl are not about pins")
                continue
            }
            var set = PinSet()
            try notes.apply(upTo: number, to: &set)
            content.sets.append(set.with(try Self.pins(value, file, number)))
        }
        try notes.demandEnd()
        return content
    }

    /// Returns the option's value in a line; nil for a line about something else.
    private static func value(in line: Substring) -> Substring? {
        guard let name = line.range(of: Self.option) else {
            let isOther = line.hasPrefix("-") || line.hasPrefix("curl ") || line.contains("=") && !line.contains("//")
            return isOther && !line.contains("sha256//") ? nil : line
        }
        let rest = line[name.upperBound...].drop { $0.isWhitespace || $0 == "=" || $0 == ":" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else {
            return rest.prefix { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
        }
        return rest.dropFirst().prefix { $0 != quote }
    }

    private static func pins(_ value: Substring, _ file: String, _ line: Int) throws(PinFormatError) -> [Pin] {
        var pins: [Pin] = []
        for part in value.split(separator: ";", omittingEmptySubsequences: true) {
            guard part.hasPrefix("sha256//") else {
                if part.hasPrefix("sha1") { _ = try PinReader.pin(part, file: file, line: line) }
                throw PinFormatError(
                    file: file, line: line,
                    "\(String(part).shown) does not begin with sha256//; for a key's file, give its pin: openssl pkey "
                        + "-pubin -outform DER | openssl dgst -sha256 -binary | openssl base64")
            }
            pins.append(try PinReader.pin(base64: part.dropFirst("sha256//".count), file: file, line: line))
        }
        guard !pins.isEmpty else { throw PinFormatError(file: file, line: line, "\(Self.option) without a pin") }
        return pins
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) {
        for set in sets {
            writer.loseCertificates(of: set)
            let notes = writer.notes(of: set, Set(Note.Key.allCases))
            let value = set.pins.map { "sha256//\($0.base64)" }.joined(separator: ";")
            if !writer.lines.isEmpty, !writer.isBare { writer.lines.append("") }
            writer.lines += notes.map { "# \($0)" }
            writer.lines.append(notes.isEmpty ? value : "\(Self.option) = \"\(value)\"")
        }
    }
}

extension Substring {
    /// Returns the first place of a text in this one.
    fileprivate func range(of text: String) -> Range<Index>? {
        self.ranges(of: text).first
    }
}
