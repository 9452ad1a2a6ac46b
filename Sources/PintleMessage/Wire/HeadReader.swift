// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Reads field lines (RFC 9112 §5) of requests, responses and trailers.
enum HeadReader {
    /// Reads the field lines up to the empty line.
    static func fields(
        _ lines: inout LineReader, of kind: MessageKind, limits: HeadLimits
    ) throws(WireError) -> Fields {
        let length = lines.rest.count
        // One copy of all lines but the empty one, with room for fields that a proxy adds, such as Via.
        let copied = UnsafeRawBufferPointer(rebasing: lines.rest.prefix(max(0, length - 2)))
        var fields = Fields(copying: copied, reservingBytes: 64)
        while true {
            let offset = length - lines.rest.count
            let line = try lines.next()
            if line.isEmpty {
                try fields.checkListLengths()
                return fields
            }
            guard fields.count < limits.count else {
                throw WireError(.headerTooLarge, "there are more than \(limits.count) field lines")
            }
            guard line.count <= limits.line else {
                throw WireError(.headerTooLarge, "a field line is longer than \(limits.line) bytes")
            }
            let parts = try Parts(of: line, kind)
            if parts.isSpelledAsKept {
                fields.appendCopied(line, at: offset, nameLength: parts.nameLength)
            } else {
                fields.append(name: parts.name(in: line), value: parts.value(in: line))
            }
        }
    }

    /// Appends one line, `name: value` without its line end.
    ///
    /// - Parameter hasLineEnd: true if CRLF follows the line in memory.
    static func append(
        _ line: UnsafeRawBufferPointer, of kind: MessageKind, to fields: inout Fields, hasLineEnd: Bool = false
    ) throws(WireError) {
        let parts = try Parts(of: line, kind)
        if parts.isSpelledAsKept {
            fields.append(line: line, nameLength: parts.nameLength, hasLineEnd: hasLineEnd)
        } else {
            fields.append(name: parts.name(in: line), value: parts.value(in: line))
        }
    }

    /// The places of name and value in one line.
    private struct Parts {
        let nameLength: Int
        let value: Range<Int>
        /// True for most lines: they have the stored form, with one space after the colon and no other white space around
        /// it.
        let isSpelledAsKept: Bool

        init(of line: UnsafeRawBufferPointer, _ kind: MessageKind) throws(WireError) {
            guard let first = line.first, first != 0x20, first != 0x09 else {
                throw WireError(.malformed, "a field line begins with white space (obsolete folding)")
            }
            let nameEnd = ASCII.tokenLength(line)
            var colon = nameEnd
            // White space before the colon is refused in requests, because servers read such names differently (RFC 9112
            // §5.1), and skipped in responses, because a proxy must remove it.
            if kind == .response {
                while colon < line.count, line[colon] == 0x20 || line[colon] == 0x09 { colon += 1 }
            }
            guard nameEnd > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
                throw WireError(.malformed, "a field name is not a token directly before its colon")
            }
            var start = colon + 1
            var end = line.count
            while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
            while end > start, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
            if ASCII.hasControlByte(UnsafeRawBufferPointer(rebasing: line[start..<end])) {
                throw WireError(.malformed, "a field value has a control byte")
            }
            self.nameLength = nameEnd
            self.value = start..<end
            self.isSpelledAsKept =
                colon == nameEnd && start == colon + 2 && line[colon + 1] == 0x20 && end == line.count
        }

        func name(in line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: line[..<self.nameLength])
        }

        func value(in line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: line[self.value])
        }
    }
}

/// The two kinds of messages; their field lines are read differently.
package enum MessageKind: Sendable {
    case request, response
}

/// Reads lines that end with CRLF from a block that is known to end with an empty line.
package struct LineReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The bytes that were not read yet.
    package var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self.bytes[self.position...]) }

    /// Returns the next line without its end.
    package mutating func next() throws(WireError) -> UnsafeRawBufferPointer {
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

extension ResponseHead {
    /// Reads a status line without its end: `HTTP/1.1 200 OK`, or its counterpart for HTTP/2.
    ///
    /// - Throws: ``WireError`` if it is not a status line.
    package init(statusLine line: UnsafeRawBufferPointer) throws(WireError) {
        guard line.starts(with: "HTTP/"), let first = line.firstIndex(of: .space, from: 0), line.count >= first + 4
        else { throw WireError(.malformed, "the status line is not version, status and reason") }
        let digits = line[(first + 1)...(first + 3)]
        guard digits.allSatisfy(ASCII.isDigit), line.count == first + 4 || line[first + 4] == .space else {
            throw WireError(.malformed, "the status is not three digits")
        }
        let status = digits.reduce(UInt16(0)) { $0 * 10 + UInt16($1 - 0x30) }
        guard status >= 100 else { throw WireError(.malformed, "the status is below 100") }
        let reason = UnsafeRawBufferPointer(rebasing: line[min(line.count, first + 5)...])
        if ASCII.hasControlByte(reason) { throw WireError(.malformed, "the reason phrase has a control byte") }
        self.init(status: status, reason: String(decoding: reason, as: UTF8.self).streamSafe)
    }
}

extension Fields {
    /// Appends one line, `name: value` without its line end.
    ///
    /// - Parameter kind: the kind of the message. Fields of HTTP/2 are read like those of a request, without white space in
    ///   their names.
    /// - Throws: ``WireError`` if it is not a field line.
    package mutating func append(
        line: UnsafeRawBufferPointer, of kind: MessageKind = .request
    ) throws(WireError) {
        try HeadReader.append(line, of: kind, to: &self)
    }

    /// Checks the section as a whole, which ``append(line:of:)`` cannot do: refuses lists that are too long.
    ///
    /// - Throws: ``WireError`` for a section with which a peer could keep an event loop busy.
    package func checkSection() throws(WireError) { try self.checkListLengths() }

    /// Returns the length that a message declares for its body; nil if it declares none.
    ///
    /// - Throws: ``WireError`` if Content-Length is malformed, or there are several that differ.
    package func declaredLength() throws(WireError) -> UInt64? { try self.contentLength() }
}
