// SPDX-License-Identifier: Apache-2.0

/// Checks that a binary property list is not much larger than it looks.
///
/// Its containers name their members by number, so two may have the same member, and thirty arrays of which each has the
/// next one twice are a thousand million values. Foundation would write them all out. Everything else about the format
/// is left to it.
struct BinaryPropertyListScan {
    /// The most values for each byte of the document. Members that are shared once in a while pass; a document without
    /// shared containers has fewer values than bytes.
    private static let valuesPerByte = 8

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private var table: Int
    /// How many values each object is when written out; nil where that has not been counted yet.
    private var counts: [Int?]
    private var isOpen: [Bool]

    static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

    static func check(_ bytes: [UInt8]) throws(PropertyListError) {
        guard var scan = BinaryPropertyListScan(bytes), let top = scan.number(at: bytes.count - 16, size: 8) else {
            throw PropertyListError("the document ends before its table of values")
        }
        guard try scan.count(of: top, depth: 0) <= bytes.count * Self.valuesPerByte else {
            throw PropertyListError("the document has far more values than bytes")
        }
    }

    /// - Returns: nil where the last 32 bytes do not describe a table that lies before them.
    private init?(_ bytes: [UInt8]) {
        guard bytes.count >= 40 else { return nil }
        self.bytes = bytes
        let trailer = bytes.count - 32
        self.offsetSize = Int(bytes[trailer + 6])
        self.referenceSize = Int(bytes[trailer + 7])
        self.table = trailer
        (self.counts, self.isOpen) = ([], [])
        guard 1...8 ~= self.offsetSize, 1...8 ~= self.referenceSize,
            let objects = self.number(at: trailer + 8, size: 8), let table = self.number(at: trailer + 24, size: 8),
            table <= trailer, objects <= (trailer - table) / self.offsetSize
        else { return nil }
        self.table = table
        self.counts = Array(repeating: nil, count: objects)
        self.isOpen = Array(repeating: false, count: objects)
    }

    /// A big-endian number; nil beyond the end of the document, and for one that no place in it can be.
    private func number(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= self.bytes.count - size else { return nil }
        let value = self.bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= UInt64(self.bytes.count) ? Int(value) : nil
    }

    private mutating func count(of object: Int, depth: Int) throws(PropertyListError) -> Int {
        guard object < self.counts.count, depth <= 512, !self.isOpen[object] else {
            throw PropertyListError("the document has containers in themselves, missing, or over 512 deep")
        }
        if let count = self.counts[object] { return count }
        self.isOpen[object] = true
        var sum = 1
        for member in try self.members(of: object) {
            // Sums stay far below the largest number: no member counts for more than the limit.
            sum = min(sum + (try self.count(of: member, depth: depth + 1)), self.bytes.count * Self.valuesPerByte + 1)
        }
        self.isOpen[object] = false
        self.counts[object] = sum
        return sum
    }

    private func members(of object: Int) throws(PropertyListError) -> [Int] {
        let broken = PropertyListError("the document has a value that lies outside of it")
        guard let offset = self.number(at: self.table + object * self.offsetSize, size: self.offsetSize),
            offset < self.table
        else { throw broken }
        let kind = self.bytes[offset] >> 4
        // Arrays, two kinds of sets, and dictionaries; what else there is has no members.
        guard 0xA...0xD ~= kind else { return [] }
        var (first, count) = (offset + 1, Int(self.bytes[offset] & 0xF))
        if count == 0xF {
            guard first < self.table, self.bytes[first] >> 4 == 1, self.bytes[first] & 0xF <= 3 else { throw broken }
            let size = 1 << Int(self.bytes[first] & 0xF)
            guard let number = self.number(at: first + 1, size: size) else { throw broken }
            (first, count) = (first + 1 + size, number)
        }
        if kind == 0xD { count *= 2 }
        guard count <= (self.table - first) / self.referenceSize else { throw broken }
        var members: [Int] = []
        members.reserveCapacity(count)
        for index in 0..<count {
            guard let member = self.number(at: first + index * self.referenceSize, size: self.referenceSize) else {
                throw broken
            }
            members.append(member)
        }
        return members
    }
}
