// SPDX-License-Identifier: Apache-2.0

internal import Logging

/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// `key=value` pairs; values that would be ambiguous are in quotation marks.
    case text
    /// One JSON object for each line.
    case json
}

/// Writes the fields of one log line.
struct LineWriter {
    /// The bytes written so far.
    var bytes: [UInt8]
    private let format: LogFormat
    /// True if the next field of the innermost JSON object, or of the text line, needs no separator before it.
    private var isFirst = true
    /// Names of the open groups; used in text only, which writes nested fields as `outer.inner=value`.
    private var path: [String] = []

    init(_ format: LogFormat, appendingTo bytes: consuming [UInt8]) {
        self.bytes = bytes
        self.format = format
        if format == .json { self.bytes.append(UInt8(ascii: "{")) }
    }

    /// Ends the line.
    mutating func end() {
        if self.format == .json { self.bytes.append(UInt8(ascii: "}")) }
        self.bytes.append(UInt8(ascii: "\n"))
    }

    mutating func field(_ key: String, _ value: String) {
        self.key(key)
        switch self.format {
        case .text: self.bytes.append(word: value)
        case .json: self.bytes.append(quoted: value)
        }
    }

    mutating func field(_ key: String, _ value: Int) {
        self.key(key)
        self.bytes.append(decimal: value)
    }

    /// - Parameter number: digits that are valid in both formats.
    mutating func field(_ key: String, number: String) {
        self.key(key)
        self.bytes.append(contentsOf: number.utf8)
    }

    mutating func field(_ key: String, _ value: Bool) {
        self.key(key)
        self.bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func field(_ key: String, _ value: Timestamp) {
        self.key(key)
        if self.format == .json { self.bytes.append(UInt8(ascii: "\"")) }
        self.bytes.append(value)
        if self.format == .json { self.bytes.append(UInt8(ascii: "\"")) }
    }

    /// Writes several values: a JSON array, or one word with commas.
    mutating func field(_ key: String, _ values: [String]) {
        guard self.format == .json else { return self.field(key, values.joined(separator: ",")) }
        self.key(key)
        self.bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { self.bytes.append(UInt8(ascii: ",")) }
            self.bytes.append(quoted: value)
        }
        self.bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a group of fields: a JSON object, or keys with a common prefix.
    mutating func group(_ key: String, _ fields: (inout LineWriter) -> Void) {
        switch self.format {
        case .text:
            self.path.append(key)
            fields(&self)
            self.path.removeLast()
        case .json:
            self.key(key)
            self.bytes.append(UInt8(ascii: "{"))
            self.isFirst = true
            fields(&self)
            self.bytes.append(UInt8(ascii: "}"))
            self.isFirst = false
        }
    }

    /// Writes the head of a text line: parts without keys.
    mutating func bare(_ time: Timestamp, level: String, message: String) {
        self.bytes.append(time)
        self.bytes.append(UInt8(ascii: " "))
        self.bytes.append(contentsOf: level.utf8)
        // Padded to five characters, for `info` and `error`, the levels of nearly every line.
        for _ in level.utf8.count..<max(5, level.utf8.count) { self.bytes.append(UInt8(ascii: " ")) }
        self.bytes.append(UInt8(ascii: " "))
        self.bytes.append(escaped: message, quoting: false)
        self.isFirst = false
    }

    /// Writes the head of a text line for a terminal.
    mutating func bare(_ time: String, _ level: Logger.Level, message: String, _ style: TerminalStyle) {
        let name = level.rawValue
        let padded = name + String(repeating: " ", count: max(0, 7 - name.utf8.count))
        self.bytes += "\(style.paint(time, .faint))  \(style.paint(padded, level.colour))  ".utf8
        self.bytes.append(escaped: message, quoting: false)
        self.isFirst = false
    }

    private mutating func key(_ key: String) {
        switch self.format {
        case .text:
            if !self.isFirst { self.bytes.append(UInt8(ascii: " ")) }
            if self.path.isEmpty {
                self.bytes.append(word: key)
            } else {
                self.bytes.append(word: self.path.joined(separator: ".") + "." + key)
            }
            self.bytes.append(UInt8(ascii: "="))
        case .json:
            if !self.isFirst { self.bytes.append(UInt8(ascii: ",")) }
            self.bytes.append(quoted: key)
            self.bytes.append(UInt8(ascii: ":"))
        }
        self.isFirst = false
    }
}
