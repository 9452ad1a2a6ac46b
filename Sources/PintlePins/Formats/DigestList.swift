// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// Pins one per line, each as `sha256/BASE64`; a `#` begins a comment. A note after pins begins another set.
enum DigestList {
    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        let lines = PinReader.lines(try PinReader.text(bytes, file))
        var notes = try Notes(lines: lines, file: file)
        var sets: [PinSet] = []
        var set = PinSet()
        var pins: [Pin] = []
        for (index, line) in lines.enumerated() {
            let number = index + 1
            if !pins.isEmpty, try Self.isNote(line, number, file) {
                sets.append(set.with(pins))
                (set, pins) = (PinSet(), [])
            }
            let text = line.prefix { $0 != "#" }.trimmed
            guard !text.isEmpty else { continue }
            try notes.apply(upTo: number, to: &set)
            for word in text.split(whereSeparator: { $0.isWhitespace || $0 == "," || $0 == ";" }) {
                pins.append(try PinReader.pin(word, file: file, line: number))
            }
        }
        try notes.demandEnd()
        if !pins.isEmpty { sets.append(set.with(pins)) }
        return PinFormat.Content(sets: sets, remarks: [])
    }

    private static func isNote(_ line: Substring, _ number: Int, _ file: String) throws(PinFormatError) -> Bool {
        let text = line.trimmed
        guard text.hasPrefix("#") else { return false }
        return try Note(comment: text.dropFirst(), line: number, file: file) != nil
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) {
        for (number, set) in sets.enumerated() {
            writer.loseCertificates(of: set)
            var notes = writer.notes(of: set, Set(Note.Key.allCases))
            if number > 0 {
                writer.lines.append("")
                if writer.isBare {
                    writer.lose("where the pins of \(set.nameOrHost) begin: sha256 has one list")
                } else if notes.isEmpty {
                    // Only a note separates this set from the one before.
                    var separated = set
                    separated.hosts = [PinnedHost.unknown(number)]
                    notes = Note.texts(of: separated, [.hosts])
                }
            }
            writer.lines += notes.map { "# \($0)" }
            writer.lines += set.pins.map(\.description)
        }
    }
}

extension PinSet {
    /// Returns the set with these pins, each once.
    func with(_ pins: [Pin]) -> PinSet {
        var set = self
        set.pins = PinSet(pins: pins).pins
        return set
    }
}
