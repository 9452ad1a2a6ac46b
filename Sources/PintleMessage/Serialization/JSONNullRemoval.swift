// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Takes the nulls out of a document: members of objects with their keys, and elements of arrays, at any depth.
    ///
    /// Everything else stays byte for byte: the order of keys, the spelling of numbers and strings, white space around
    /// what remains. Containers that become empty stay, and so does a null that is the whole document. A document in
    /// UTF-16 or UTF-32 comes back in UTF-8, and a byte order mark is dropped, when there was a null to take out.
    ///
    /// - Returns: the new document, or nil where there was nothing to take out.
    /// - Throws: where and why the bytes stop being JSON.
    public func removingNulls(from bytes: [UInt8]) throws(JSONSyntaxError) -> [UInt8]? {
        JSONNullRemoval.apply(to: try self.checkedUTF8(bytes))
    }
}

/// Copies a document that ``JSONScanner`` has found in order, in runs as long as they get, and takes back what led to a
/// null.
private struct JSONNullRemoval {
    /// How much of the result there was before the current element, its comma included, and whether the container had
    /// kept a member by then.
    private struct Mark {
        var count: Int
        var hasMember: Bool
    }

    private let bytes: [UInt8]
    private var result: [UInt8] = []
    /// Where the run begins that is kept but not copied yet.
    private var runStart = 0
    private var mark = Mark(count: 0, hasMember: false)
    /// For each open container, and for the document, whether something has been kept in it.
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

    /// How long the result is when it has everything up to `index`.
    private func count(at index: Int) -> Int { self.result.count + index - self.runStart }

    /// A comma stays only where something before it did.
    private mutating func comma(at index: Int) {
        let hasMember = self.hasMember[self.hasMember.count - 1]
        self.mark = Mark(count: self.count(at: index), hasMember: hasMember)
        if !hasMember { self.skip(from: index, to: index + 1) }
    }

    /// Drops what came after the mark, and with it the null that ends before `end`.
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
