// SPDX-License-Identifier: Apache-2.0

/// Reads field lines (RFC 9112 §5): of a request's head, of a response's, or of trailers.
enum HeadReader {
    /// Reads the field lines up to the empty line.
    static func fields(_ lines: inout LineReader, limits: HeadLimits) throws(WireError) -> Fields {
        var fields = Fields(reservingBytes: lines.remaining)
        while true {
            let line = try lines.next()
            if line.isEmpty { return fields }
            guard fields.count < limits.count else {
                throw WireError(.headerTooLarge, "there are more than \(limits.count) field lines")
            }
            guard line.count <= limits.line else {
                throw WireError(.headerTooLarge, "a field line is longer than \(limits.line) bytes")
            }
            try Self.append(line, to: &fields)
        }
    }

    /// Appends one line, `name: value` without its line end.
    static func append(_ line: UnsafeRawBufferPointer, to fields: inout Fields) throws(WireError) {
        guard let first = line.first, first != 0x20, first != 0x09 else {
            throw WireError(.malformed, "a field line begins with white space (obsolete folding)")
        }
        var colon = 0
        while colon < line.count, ASCII.isTokenByte(line[colon]) { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            throw WireError(.malformed, "a field name is not a token directly before its colon")
        }
        var start = colon + 1
        var end = line.count
        while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        while end > start, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
        for index in start..<end where line[index] < 0x20 && line[index] != 0x09 || line[index] == 0x7F {
            throw WireError(.malformed, "a field value has a control byte")
        }
        fields.append(
            name: UnsafeRawBufferPointer(rebasing: line[..<colon]),
            value: UnsafeRawBufferPointer(rebasing: line[start..<end]))
    }
}

/// Takes lines that end with CRLF from a block that is known to end with an empty one.
struct LineReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The bytes that were not taken yet.
    var remaining: Int { self.bytes.count - self.position }

    /// The next line without its end.
    mutating func next() throws(WireError) -> UnsafeRawBufferPointer {
        guard let lineFeed = self.bytes.firstIndex(of: .lf, from: self.position), lineFeed > self.position,
            self.bytes[lineFeed - 1] == .cr
        else { throw WireError(.malformed, "a line of the head does not end with carriage return and line feed") }
        let line = UnsafeRawBufferPointer(rebasing: self.bytes[self.position..<(lineFeed - 1)])
        self.position = lineFeed + 1
        return line
    }
}

extension UInt8 {
    static let cr = UInt8(ascii: "\r")
    static let lf = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
}
