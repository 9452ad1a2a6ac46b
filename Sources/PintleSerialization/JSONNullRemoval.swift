// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Removes the nulls from a document: members of objects with their keys, and elements of arrays, at any depth.
    ///
    /// Everything else stays byte for byte: the order of keys, the spelling of numbers and strings, white space around what
    /// remains. Containers that become empty stay, and so does a null that is the whole document. If a null is removed, a
    /// document in UTF-16 or UTF-32 is converted to UTF-8, and a byte order mark is dropped.
    ///
    /// - Returns: the new document, or nil if there was nothing to remove.
    /// - Throws: the place of the first byte that is not JSON, and the reason.
    public func removingNulls(from bytes: [UInt8]) throws(JSONSyntaxError) -> [UInt8]? {
        JSONNullRemoval.apply(to: try self.checkedUTF8(bytes))
    }
}

/// Copies a valid document in the longest possible runs. At each null, it removes from the result what led to it: a comma,
/// a key.
private struct JSONNullRemoval {
    /// A place to return to: the length of the result before the current element and its comma, and ``hasMember`` at that
    /// time.
    private struct Mark {
        var count: Int
        var hasMember: Bool
    }

    private let bytes: [UInt8]
    private var result: [UInt8] = []
    /// The start of the run that belongs to the result but is not copied yet.
    private var runStart = 0
    private var mark = Mark(count: 0, hasMember: false)
    /// For the document and each open container: true if something in it has been kept.
    private var hasMember = [false]

    static func apply(to bytes: [UInt8]) -> [UInt8]? {
        var removal = JSONNullRemoval(bytes: bytes)
        return removal.document()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func document() -> [UInt8]? {
        var hasRemoved = false
        var index = 0
        while index < self.bytes.count {
            let byte = self.bytes[index]
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":"): index += 1
            case UInt8(ascii: "\""):
                self.hasMember[self.hasMember.count - 1] = true
                index = self.endOfString(from: index)
            case UInt8(ascii: ","):
                self.comma(at: index)
                index += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                self.hasMember[self.hasMember.count - 1] = true
                self.hasMember.append(false)
                index += 1
                self.mark = Mark(count: self.count(at: index), hasMember: false)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                self.hasMember.removeLast()
                index += 1
            case UInt8(ascii: "n"):
                guard self.hasMember.count > 1 else { return nil }
                index += 4
                self.takeBack(upTo: index)
                hasRemoved = true
            default:
                self.hasMember[self.hasMember.count - 1] = true
                index = self.endOfWord(from: index)
            }
        }
        guard hasRemoved else { return nil }
        self.result.append(contentsOf: self.bytes[self.runStart...])
        return self.result
    }

    /// Returns the length of the result with everything up to `index`.
    private func count(at index: Int) -> Int { self.result.count + index - self.runStart }

    /// Keeps a comma only if an element before it was kept.
    private mutating func comma(at index: Int) {
        let hasMember = self.hasMember[self.hasMember.count - 1]
        self.mark = Mark(count: self.count(at: index), hasMember: hasMember)
        if !hasMember { self.skip(from: index, to: index + 1) }
    }

    /// Drops everything after the mark, and with it the null that ends before `end`.
    private mutating func takeBack(upTo end: Int) {
        self.skip(from: self.runStart + max(0, self.mark.count - self.result.count), to: end)
        self.result.removeSubrange(self.mark.count...)
        self.hasMember[self.hasMember.count - 1] = self.mark.hasMember
    }

    private mutating func skip(from start: Int, to end: Int) {
        self.result.append(contentsOf: self.bytes[self.runStart..<start])
        self.runStart = end
    }

    private func endOfString(from start: Int) -> Int {
        var index = start + 1
        while self.bytes[index] != UInt8(ascii: "\"") { index += self.bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
        return index + 1
    }

    private func endOfWord(from start: Int) -> Int {
        var index = start
        while index < self.bytes.count, !JSONScan.endsWord(self.bytes[index]) { index += 1 }
        return index
    }
}
