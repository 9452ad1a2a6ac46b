// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The header or trailer section of a message: field lines in wire order, with their letter case and duplicates.
///
/// All lines live in one block of bytes, each as `Name: value` CRLF, so that a section is written to a peer with few
/// copies and no intermediate strings. Names compare without regard to case (RFC 9110 §5.1).
public struct Fields: Sendable {
    /// One line: where its name and value are in `bytes`. The line ends with CRLF two bytes after the value.
    struct Line: Sendable {
        var name: FieldName
        var start: UInt32
        var nameLength: UInt32
        var valueLength: UInt32

        var valueStart: UInt32 { self.start + self.nameLength + 2 }
        var end: UInt32 { self.valueStart + self.valueLength + 2 }
    }

    private(set) var bytes: [UInt8] = []
    private(set) var lines: [Line] = []
    /// The size of the section on the wire in bytes, without the final empty line.
    package private(set) var byteCount = 0

    /// An empty section.
    public init() {}

    /// Makes an empty section with room for `byteCount` bytes of lines.
    package init(reservingBytes byteCount: Int, lines lineCount: Int = 16) {
        self.bytes.reserveCapacity(byteCount)
        self.lines.reserveCapacity(lineCount)
    }

    /// Makes an empty section that holds the bytes of lines; ``appendCopied(_:at:nameLength:)`` then adds the lines
    /// themselves.
    init(copying lines: UnsafeRawBufferPointer, reservingBytes byteCount: Int) {
        self.init(reservingBytes: lines.count + byteCount)
        self.bytes.append(contentsOf: lines)
    }

    /// Makes room for more lines, so that a section whose storage is shared is copied only once.
    package mutating func reserve(bytes byteCount: Int, lines lineCount: Int) {
        self.bytes.reserveCapacity(self.bytes.count + byteCount)
        self.lines.reserveCapacity(self.lines.count + lineCount)
    }

    /// The number of field lines.
    public var count: Int { self.lines.count }

    /// True if there is no field line.
    public var isEmpty: Bool { self.lines.isEmpty }

    // MARK: Reading

    /// The value of the first line called `name`, or nil. Bytes that are not UTF-8 are replaced, and so are combining marks behind 30
    /// in a row (UAX #15 §13), with which `String` would take quadratic time.
    public subscript(_ name: String) -> String? {
        self.index(of: FieldName(name), spelled: name.utf8, from: 0).map { self.value(at: $0) }
    }

    /// The value of the first line called `name`, or nil.
    package subscript(_ name: FieldName) -> String? {
        self.firstIndex(of: name).map { self.value(at: $0) }
    }

    /// Every value of the lines called `name`, in wire order.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        let known = FieldName(name)
        var next = 0
        while let index = self.index(of: known, spelled: name.utf8, from: next) {
            values.append(self.value(at: index))
            next = index + 1
        }
        return values
    }

    /// True if there is a line called `name`.
    public func contains(_ name: String) -> Bool {
        self.index(of: FieldName(name), spelled: name.utf8, from: 0) != nil
    }

    /// True if there is a line called `name`.
    package func contains(_ name: FieldName) -> Bool {
        self.firstIndex(of: name) != nil
    }

    /// True if `accepts` returns true for the value of a line called `name`. The bytes are valid during the call only.
    package func contains(_ name: String, where accepts: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        let known = FieldName(name)
        return self.bytes.withUnsafeBytes { all in
            var next = 0
            while let index = self.index(of: known, spelled: name.utf8, from: next) {
                let start = Int(self.lines[index].valueStart)
                let value = all[start..<start + Int(self.lines[index].valueLength)]
                if accepts(UnsafeRawBufferPointer(rebasing: value)) { return true }
                next = index + 1
            }
            return false
        }
    }

    /// True if the value of the first line called `name` begins with `lowercase`, without regard to case.
    package func begins(_ name: FieldName, with lowercase: StaticString) -> Bool {
        guard let index = self.firstIndex(of: name) else { return false }
        let (start, count) = (Int(self.lines[index].valueStart), lowercase.utf8CodeUnitCount)
        guard self.lines[index].valueLength >= count else { return false }
        return self.bytes.withUnsafeBytes { all in
            ASCII.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: all[start..<start + count]), lowercase)
        }
    }

    /// The number of lines called `name`.
    package func count(of name: FieldName) -> Int {
        self.lines.count { $0.name == name }
    }

    /// The lines as name and value, in wire order. Made for tests and explanations, not for the request path.
    public var pairs: [(name: String, value: String)] {
        self.lines.indices.map { (self.name(at: $0), self.value(at: $0)) }
    }

    /// Calls `body` with each line: its name, known and as it is spelled, and its value. The bytes are valid during the call
    /// only.
    package func forEachField(
        _ body: (FieldName, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        self.bytes.withUnsafeBytes { all in
            for line in self.lines {
                let (start, valueStart) = (Int(line.start), Int(line.valueStart))
                body(
                    line.name, UnsafeRawBufferPointer(rebasing: all[start..<start + Int(line.nameLength)]),
                    UnsafeRawBufferPointer(rebasing: all[valueStart..<valueStart + Int(line.valueLength)]))
            }
        }
    }

    /// Calls `body` with the bytes of each line, `Name: value` without the line end, and with its name.
    package func forEachLine(_ body: (FieldName, UnsafeRawBufferPointer) -> Void) {
        self.bytes.withUnsafeBytes { all in
            for line in self.lines {
                body(line.name, UnsafeRawBufferPointer(rebasing: all[Int(line.start)..<Int(line.end) - 2]))
            }
        }
    }

    /// Calls `body` with runs of whole lines, each `Name: value` CRLF: the section in its wire form.
    package func forEachRun(_ body: (UnsafeRawBufferPointer) -> Void) {
        self.bytes.withUnsafeBytes { all in
            // No line was removed, nor brought into another place, which leaves a gap as well.
            if self.byteCount == all.count { return all.isEmpty ? () : body(all) }
            var start: UInt32 = 0
            var end: UInt32 = 0
            for line in self.lines {
                if line.start != end {
                    if end > start { body(UnsafeRawBufferPointer(rebasing: all[Int(start)..<Int(end)])) }
                    start = line.start
                }
                end = line.end
            }
            if end > start { body(UnsafeRawBufferPointer(rebasing: all[Int(start)..<Int(end)])) }
        }
    }

    /// The size of the section in memory in bytes, without a pass over its lines.
    package var storedByteCount: Int { self.bytes.count + self.lines.count * MemoryLayout<Line>.stride }

    // MARK: Changing

    /// Appends a line. `name` must be a token and `value` free of CR, LF and NUL; callers check text from outside with
    /// `FieldSyntax` first.
    public mutating func append(_ name: String, _ value: String) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { value in
                self.append(name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer(value))
            }
        }
    }

    /// Appends a line whose value is two words, without joining them into a text first.
    ///
    /// - Parameter name: any name but `.other`.
    mutating func append(_ name: FieldName, _ first: String, _ second: String) {
        let start = self.bytes.count
        self.append(bytesOf: name.spelling)
        let nameLength = self.bytes.count - start
        self.bytes.append(UInt8(ascii: ":"))
        self.bytes.append(UInt8(ascii: " "))
        self.append(bytesOf: first)
        self.bytes.append(UInt8(ascii: " "))
        self.append(bytesOf: second)
        let valueLength = self.bytes.count - start - nameLength - 2
        self.bytes.append(UInt8(ascii: "\r"))
        self.bytes.append(UInt8(ascii: "\n"))
        self.append(
            Line(
                name: name, start: UInt32(start), nameLength: UInt32(nameLength), valueLength: UInt32(valueLength)))
    }

    private mutating func append(_ line: Line) {
        self.lines.append(line)
        self.byteCount += Int(line.end - line.start)
    }

    private mutating func append(bytesOf text: String) {
        var text = text
        text.withUTF8 { self.bytes.append(contentsOf: $0) }
    }

    /// Appends a line from bytes.
    package mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = UInt32(self.bytes.count)
        self.bytes.append(contentsOf: name)
        self.bytes.append(UInt8(ascii: ":"))
        self.bytes.append(UInt8(ascii: " "))
        self.bytes.append(contentsOf: value)
        self.bytes.append(UInt8(ascii: "\r"))
        self.bytes.append(UInt8(ascii: "\n"))
        self.append(
            Line(
                name: FieldName(bytes: name), start: start, nameLength: UInt32(name.count),
                valueLength: UInt32(value.count)))
    }

    /// Appends a line that is spelled `Name: value`, with one space.
    ///
    /// - Parameter hasLineEnd: true if CRLF follows the line in memory.
    mutating func append(line: UnsafeRawBufferPointer, nameLength: Int, hasLineEnd: Bool) {
        let start = self.bytes.count
        if hasLineEnd {
            self.bytes.append(contentsOf: UnsafeRawBufferPointer(start: line.baseAddress, count: line.count + 2))
        } else {
            self.bytes.append(contentsOf: line)
            self.bytes.append(UInt8(ascii: "\r"))
            self.bytes.append(UInt8(ascii: "\n"))
        }
        self.appendCopied(line, at: start, nameLength: nameLength)
    }

    /// Appends a line, spelled `Name: value` with one space. Its bytes and line end must be in this section's bytes
    /// already.
    mutating func appendCopied(_ line: UnsafeRawBufferPointer, at start: Int, nameLength: Int) {
        self.append(
            Line(
                name: FieldName(bytes: UnsafeRawBufferPointer(rebasing: line[..<nameLength])), start: UInt32(start),
                nameLength: UInt32(nameLength), valueLength: UInt32(line.count - nameLength - 2)))
    }

    /// Replaces every line called `name` by one line, in the place of the first, or appends it.
    public mutating func set(_ name: String, _ value: String) {
        let known = FieldName(name)
        guard let first = self.index(of: known, spelled: name.utf8, from: 0) else {
            self.append(name, value)
            return
        }
        self.append(name, value)
        let line = self.lines.removeLast()
        self.lines[first] = line
        self.removeLines(from: first + 1, called: known, spelled: name.utf8)
        self.countBytes()
    }

    /// Removes every line called `name`.
    public mutating func remove(_ name: String) {
        self.removeLines(from: 0, called: FieldName(name), spelled: name.utf8)
        self.countBytes()
    }

    /// Removes every line called `name`.
    package mutating func remove(_ name: FieldName) {
        guard self.contains(name) else { return }
        self.lines.removeAll { $0.name == name }
        self.countBytes()
    }

    /// Removes every line whose name satisfies `shouldRemove`.
    package mutating func removeAll(where shouldRemove: (FieldName) -> Bool) {
        guard self.lines.contains(where: { shouldRemove($0.name) }) else { return }
        self.lines.removeAll { shouldRemove($0.name) }
        self.countBytes()
    }

    /// Removes every line whose name satisfies `shouldRemove`. The closure also gets the bytes of the name, because names
    /// that are `.other` differ only in their bytes.
    package mutating func removeAll(where shouldRemove: (FieldName, UnsafeRawBufferPointer) -> Bool) {
        let lines = self.bytes.withUnsafeBytes { all -> [Line]? in
            func isRemoved(_ line: Line) -> Bool {
                let name = all[Int(line.start)..<Int(line.start + line.nameLength)]
                return shouldRemove(line.name, UnsafeRawBufferPointer(rebasing: name))
            }
            // Mostly there is none, and the lines need not be copied.
            guard let first = self.lines.firstIndex(where: isRemoved) else { return nil }
            var lines = self.lines
            lines[first...].removeAll(where: isRemoved)
            return lines
        }
        guard let lines else { return }
        self.lines = lines
        self.countBytes()
    }

    /// Gives lines other values, in their places.
    ///
    /// - Parameter replacement: the new value of a line, nil for none. The bytes are valid during the call only.
    package mutating func replaceValues(
        _ replacement: (FieldName, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> [UInt8]?
    ) {
        for index in self.lines.indices {
            let line = self.lines[index]
            let place = Int(line.valueStart)..<Int(line.valueStart + line.valueLength)
            let value = self.bytes.withUnsafeBytes { all in
                let name = all[Int(line.start)..<Int(line.start + line.nameLength)]
                return replacement(
                    line.name, UnsafeRawBufferPointer(rebasing: name), UnsafeRawBufferPointer(rebasing: all[place]))
            }
            guard let value else { continue }
            if value.count == place.count {
                self.bytes.replaceSubrange(place, with: value)
                continue
            }
            let name = Array(self.bytes[Int(line.start)..<Int(line.start + line.nameLength)])
            name.withUnsafeBytes { name in value.withUnsafeBytes { self.append(name: name, value: $0) } }
            self.lines[index] = self.lines.removeLast()
            self.byteCount -= Int(line.end - line.start)
        }
    }

    /// Counts anew, after lines were removed.
    private mutating func countBytes() { self.byteCount = self.lines.reduce(0) { $0 + Int($1.end - $1.start) } }

    /// Removes all lines of one name in a single pass.
    private mutating func removeLines(from start: Int, called known: FieldName, spelled: some Collection<UInt8>) {
        guard var kept = self.index(of: known, spelled: spelled, from: start) else { return }
        for index in kept..<self.lines.count where !self.isCalled(known, spelled: spelled, at: index) {
            self.lines.swapAt(kept, index)
            kept += 1
        }
        self.lines.removeSubrange(kept...)
    }

    // MARK: Inside

    /// True if the first line called `name` is empty, or a host with an optional port.
    func isAuthority(_ name: FieldName) -> Bool {
        guard let index = self.firstIndex(of: name) else { return false }
        let line = self.lines[index]
        guard line.valueLength > 0 else { return true }
        return self.bytes.withUnsafeBytes { all in
            let value = all[Int(line.valueStart)..<Int(line.valueStart + line.valueLength)]
            return Authority.parts(of: UnsafeRawBufferPointer(rebasing: value), defaultPort: 80) != nil
        }
    }

    func firstIndex(of name: FieldName) -> Int? {
        self.lines.firstIndex { $0.name == name }
    }

    private func index(of known: FieldName, spelled: some Collection<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < self.lines.count {
            if self.isCalled(known, spelled: spelled, at: index) { return index }
            index += 1
        }
        return nil
    }

    private func isCalled(_ known: FieldName, spelled: some Collection<UInt8>, at index: Int) -> Bool {
        let line = self.lines[index]
        guard line.name == known else { return false }
        if known != .other { return true }
        let name = self.bytes[Int(line.start)..<Int(line.start + line.nameLength)]
        return ASCII.equalsIgnoringCase(name, spelled)
    }

    func name(at index: Int) -> String {
        let line = self.lines[index]
        return String(decoding: self.bytes[Int(line.start)..<Int(line.start + line.nameLength)], as: UTF8.self)
    }

    func value(at index: Int) -> String {
        let line = self.lines[index]
        let start = Int(line.valueStart)
        return String(decoding: self.bytes[start..<start + Int(line.valueLength)], as: UTF8.self).streamSafe
    }
}
