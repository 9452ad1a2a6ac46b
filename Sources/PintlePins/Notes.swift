// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// A setting that a format cannot express, as a comment: `pintle-hosts: api.example, *.api.example`.
///
/// Notes stand before the pins that they are about. A second hyphen in a row is written `%2D`, since XML comments may not
/// have two; characters that cannot be printed are escaped in the same way.
struct Note {
    enum Key: String, CaseIterable {
        case policy
        /// Host patterns, separated by commas.
        case hosts
        /// A date such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z.
        case expires
        /// `fail` or `report`; `system`, which formats without a choice mean, needs no note.
        case onExpiry = "on-expiry"
        /// Seconds for which clients remember the pins.
        case maxAge = "max-age"
        /// URIs to report to, separated by spaces.
        case reportURIs = "report-uris"
        /// Always `report`: the pins are only reported.
        case enforcement
    }

    let line: Int
    let key: Key
    let value: String

    private static let prefix = "pintle-"

    /// Returns the note in a comment; nil for any other comment.
    ///
    /// - Throws: for a comment that begins like a note, but has an unknown key.
    init?(comment: some StringProtocol, line: Int, file: String) throws(PinFormatError) {
        let text = Substring(comment).trimmed
        guard text.hasPrefix(Note.prefix), let colon = text.firstIndex(of: ":") else { return nil }
        let name = String(text[text.index(text.startIndex, offsetBy: Note.prefix.count)..<colon])
        guard let key = Key(rawValue: name) else {
            let keys = Key.allCases.map { Note.prefix + $0.rawValue }.joined(separator: ", ")
            throw PinFormatError(
                file: file, line: line, "there is no note \((Note.prefix + name).shown); those that there are: \(keys)")
        }
        self.line = line
        self.key = key
        let escaped = Array(text[text.index(after: colon)...].trimmed.utf8)
        self.value = String(decoding: PercentEscaping.unescapeWhole(escaped[...]), as: UTF8.self)
    }

    /// Returns the notes about `keys`, as they are written into a comment.
    static func texts(of set: PinSet, _ keys: Set<Key>) -> [String] {
        Key.allCases.filter(keys.contains).compactMap { key in
            Note.value(of: key, in: set).map { "\(Note.prefix)\(key.rawValue): \(Note.encoded($0))" }
        }
    }

    /// Returns the value of `key` in a set; nil if it is the default.
    static func value(of key: Key, in set: PinSet) -> String? {
        switch key {
        case .policy: return set.name
        case .hosts: return set.hosts.isEmpty ? nil : set.hosts.flatMap(\.spellings).joined(separator: ", ")
        case .expires: return set.expires.map(\.spelled)
        case .onExpiry: return set.expires == nil || set.onExpiry == .system ? nil : set.onExpiry.rawValue
        case .maxAge: return set.maxAge.map(String.init)
        case .reportURIs: return set.reportURIs.isEmpty ? nil : set.reportURIs.joined(separator: " ")
        case .enforcement: return set.isEnforced ? nil : "report"
        }
    }

    /// Writes the note's value into a set.
    func apply(to set: inout PinSet, file: String) throws(PinFormatError) {
        switch self.key {
        case .policy:
            guard !self.value.isEmpty else { throw self.problem("there is no name", file) }
            set.name = self.value
        case .hosts:
            var hosts: [PinnedHost] = []
            for text in self.value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let host = PinnedHost(text.trimmed) else {
                    throw self.problem("\(String(text).trimmed.shown) is no host pattern", file)
                }
                hosts.append(host)
            }
            set.hosts = PinnedHost.merged(hosts)
        case .expires:
            guard let moment = UnixTime(iso8601: self.value) else {
                throw self.problem("\(self.value.shown) is no date, as 2027-01-31 is", file)
            }
            set.expires = moment
        case .onExpiry:
            guard let action = PinExpiry.Action(rawValue: self.value) else {
                throw self.problem("\(self.value.shown) is not fail, report or system", file)
            }
            set.onExpiry = action
        case .maxAge:
            guard let seconds = Int(self.value), seconds > 0 else {
                throw self.problem("\(self.value.shown) is no number of seconds", file)
            }
            set.maxAge = seconds
        case .reportURIs: set.reportURIs = self.value.split(separator: " ").map(String.init)
        case .enforcement:
            guard self.value == "report" else { throw self.problem("only report can be noted", file) }
            set.isEnforced = false
        }
    }

    private func problem(_ message: String, _ file: String) -> PinFormatError {
        PinFormatError(file: file, line: self.line, "\(Note.prefix)\(self.key.rawValue): \(message)")
    }

    /// Escapes text for a note: all but printable ASCII, and also `%`, a second hyphen in a row, and spaces at the ends.
    private static func encoded(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isInner = index > 0 && index < bytes.count - 1
            let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%") || byte == 0x20 && isInner
            let isSecondHyphen = byte == UInt8(ascii: "-") && result.last == byte
            result += isPlain && !isSecondHyphen ? [byte] : Array(byte.percentEncoded.utf8)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension UInt8 {
    /// The byte with percent-encoding, for example `%2D` (RFC 3986 §2.1).
    var percentEncoded: String {
        let digits = String(self, radix: 16, uppercase: true)
        return digits.count < 2 ? "%0\(digits)" : "%\(digits)"
    }
}

/// The notes of a file, assigned to the pins that follow them.
struct Notes {
    private let file: String
    private var waiting: ArraySlice<Note>

    init(_ notes: [Note], file: String) {
        self.file = file
        self.waiting = notes.sorted { $0.line < $1.line }[...]
    }

    /// Reads the notes in the lines that begin with `#`.
    init(lines: [Substring], file: String) throws(PinFormatError) {
        var notes: [Note] = []
        for (index, line) in lines.enumerated() {
            let text = line.trimmed
            guard text.hasPrefix("#") else { continue }
            if let note = try Note(comment: text.dropFirst(), line: index + 1, file: file) { notes.append(note) }
        }
        self.init(notes, file: file)
    }

    /// Applies the notes up to a line that were not applied before.
    mutating func apply(upTo line: Int, to set: inout PinSet) throws(PinFormatError) {
        while let note = self.waiting.first, note.line <= line {
            self.waiting.removeFirst()
            try note.apply(to: &set, file: self.file)
        }
    }

    /// Throws if a note is left that is before no pins.
    func demandEnd() throws(PinFormatError) {
        guard let note = self.waiting.first else { return }
        throw PinFormatError(
            file: self.file, line: note.line, "this note stands before no pins; put it before those that it is about")
    }
}
