// SPDX-License-Identifier: Apache-2.0

/// Rewrites the header blocks of an HTTP/2 connection (RFC 7541) for a decoder that reads strings as UTF-8 and repairs
/// invalid bytes. Each byte over 0x7F becomes a character, so that the decoder's text has all bytes (`String.latin1Bytes`).
///
/// The decoder keeps its own dynamic table. Entries are numbered from the newest, so a number means the same entry to the
/// decoder as to the peer, as long as the decoder has every entry that the peer has. Rewritten text takes up to twice the
/// room; therefore the decoder's table has ``decoderTable`` bytes while the peer's has ``table``, and the decoder adds only
/// entries that the peer has added. So this type needs to keep only the sizes of the peer's entries.
package struct HeaderBlockEscaper {
    /// The size of every peer's table (RFC 9113 §6.5.2), in bytes as RFC 7541 §4.1 counts them.
    package static let table = 4096
    /// The size of the table that the decoder must allow, counted in the same way.
    package static let decoderTable = 2 * Self.table

    /// The maximum capacity that ``text`` keeps from one block to the next, in bytes.
    private static let mostScratch = 16 * 1024

    /// The length of an entry's name, and the size of the entry (RFC 7541 §4.1).
    private struct Entry {
        let name: Int
        let size: Int
    }

    /// The lengths of the names in the static table (RFC 7541 appendix A).
    private static let staticNames: [Int] = [
        10, 7, 7, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 14, 15, 15, 13, 6, 27, 3, 5, 13, 13, 19, 16, 16, 14, 16, 13, 12, 6,
        4, 4, 6,
        7, 4, 4, 8, 17, 13, 8, 19, 13, 4, 8, 12, 18, 19, 5, 7, 7, 11, 6, 10, 25, 17, 10, 4, 3, 16,
    ]

    /// The peer's entries, the newest last. Those before `oldest` were evicted.
    private var entries: [Entry] = []
    private var oldest = 0
    /// The size of all entries in bytes, and its maximum.
    package private(set) var tableSize = 0
    private var tableLimit = Self.table
    private let fieldLimit: Int
    /// The beginning of a field that arrives in pieces.
    private var unfinished: [UInt8] = []
    /// The name and the value of the field that is being rewritten.
    private var text: [UInt8] = []
    private var isWithinBlock = false
    private var hasFields = false
    private var sizeUpdates = 0
    /// True if the size of the decoder's table has been sent.
    private var hasDecoderTable = false

    /// - Parameter fieldLimit: the maximum size in bytes of an unfinished field that arrives in pieces.
    package init(fieldLimit: Int) { self.fieldLimit = fieldLimit }

    /// The number of entries.
    package var entryCount: Int { self.entries.count - self.oldest }

    /// Rewrites a piece of a header block, and appends it to `output`.
    ///
    /// - Parameters:
    ///   - fragment: the part of the block in one frame (RFC 9113 §4.3).
    ///   - isLast: true if the block ends with it.
    /// - Throws: ``WireError`` for a connection error of kind COMPRESSION_ERROR. Nothing more can be read then.
    package mutating func escape(
        _ fragment: UnsafeRawBufferPointer, isLast: Bool, into output: inout [UInt8]
    ) throws(WireError) {
        if !self.isWithinBlock { (self.isWithinBlock, self.hasFields, self.sizeUpdates) = (true, false, 0) }
        if !self.hasDecoderTable {
            self.hasDecoderTable = true
            output.append(integer: Self.decoderTable, prefix: 5, first: 0x20)
        }
        if self.unfinished.isEmpty {
            try self.escape(all: fragment, isLast: isLast, into: &output)
        } else {
            let joined = self.unfinished + fragment
            self.unfinished = []
            var result: Result<Void, WireError> = .success(())
            joined.withUnsafeBytes { bytes in
                result = Result { () throws(WireError) in try self.escape(all: bytes, isLast: isLast, into: &output) }
            }
            try result.get()
        }
        guard isLast else { return }
        self.isWithinBlock = false
        if self.text.capacity > Self.mostScratch { self.text = [] }
    }

    private mutating func escape(
        all bytes: UnsafeRawBufferPointer, isLast: Bool, into output: inout [UInt8]
    ) throws(WireError) {
        var reader = HeaderBlockReader(bytes)
        while let first = reader.next {
            let start = reader.index
            guard try !self.escapeOne(first, &reader, into: &output) else { continue }
            guard !isLast else { throw WireError(.malformed, "a header block is cut off") }
            guard bytes.count - start <= self.fieldLimit else {
                throw WireError(.headerTooLarge, "a field is longer than a head may be")
            }
            self.unfinished = Array(bytes[start...])
            return
        }
    }

    /// Rewrites one field, or one change of the table's size (§6).
    ///
    /// - Returns: false if it is incomplete.
    private mutating func escapeOne(
        _ first: UInt8, _ reader: inout HeaderBlockReader, into output: inout [UInt8]
    ) throws(WireError) -> Bool {
        switch first {
        case 0x80...:
            guard let index = try reader.integer(prefix: 7) else { return false }
            _ = try self.nameLength(at: index)
            output.append(integer: index, prefix: 7, first: 0x80)
            self.hasFields = true
        case 0x40..<0x80:
            guard let index = try reader.integer(prefix: 6) else { return false }
            return try self.escapeLiteral(index, isKept: true, &reader, into: &output)
        case 0x20..<0x40:
            guard let size = try reader.integer(prefix: 5) else { return false }
            self.sizeUpdates += 1
            // A block never needs more than two (§4.2).
            guard !self.hasFields, self.sizeUpdates <= 2, size <= Self.table else {
                throw WireError(.malformed, "the size of the table of fields is changed as it may not be")
            }
            // The decoder still has entries that the peer evicts here, but no number refers to them any more.
            self.tableLimit = size
            self.makeRoom(for: 0)
        default:
            guard let index = try reader.integer(prefix: 4) else { return false }
            return try self.escapeLiteral(index, isKept: false, &reader, into: &output)
        }
        return true
    }

    /// Rewrites a field with a literal value, and perhaps a literal name (§6.2).
    private mutating func escapeLiteral(
        _ index: Int, isKept: Bool, _ reader: inout HeaderBlockReader, into output: inout [UInt8]
    ) throws(WireError) -> Bool {
        self.text.removeAll(keepingCapacity: true)
        var nameLength = 0
        if index > 0 {
            nameLength = try self.nameLength(at: index)
        } else {
            guard let name = try reader.string() else { return false }
            try name.decode(into: &self.text)
            nameLength = self.text.count
        }
        guard let value = try reader.string() else { return false }
        let valueStart = self.text.count
        try value.decode(into: &self.text)
        self.hasFields = true
        let valueLength = self.text.count - valueStart
        if isKept, self.keep(Entry(name: nameLength, size: nameLength + valueLength + 32)) {
            output.append(integer: index, prefix: 6, first: 0x40)
        } else {
            output.append(integer: index, prefix: 4, first: 0)
        }
        self.text.withUnsafeBytes { text in
            if index == 0 { Self.appendString(text[..<valueStart], to: &output) }
            Self.appendString(text[valueStart...], to: &output)
        }
        return true
    }

    private static func appendString(_ bytes: Slice<UnsafeRawBufferPointer>, to output: inout [UInt8]) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        if ASCII.isAll(bytes) {
            output.append(integer: bytes.count, prefix: 7, first: 0)
            output.append(contentsOf: bytes)
        } else {
            let high = bytes.reduce(0) { $0 + Int($1 >> 7) }
            output.append(integer: bytes.count + high, prefix: 7, first: 0)
            output.append(widening: bytes)
        }
    }

    // MARK: The table

    private func nameLength(at index: Int) throws(WireError) -> Int {
        let place = self.entries.count - (index - Self.staticNames.count)
        guard index > 0, place >= self.oldest else {
            throw WireError(.malformed, "a header block names an entry that is not there")
        }
        return index <= Self.staticNames.count ? Self.staticNames[index - 1] : self.entries[place].name
    }

    /// - Returns: false if the entry is larger than the table, which is empty then (§4.4).
    private mutating func keep(_ entry: Entry) -> Bool {
        self.makeRoom(for: entry.size)
        guard entry.size <= self.tableLimit else { return false }
        self.entries.append(entry)
        self.tableSize += entry.size
        return true
    }

    private mutating func makeRoom(for size: Int) {
        while self.oldest < self.entries.count, self.tableSize + size > self.tableLimit {
            self.tableSize -= self.entries[self.oldest].size
            self.oldest += 1
        }
        if self.oldest > 256 {
            self.entries.removeFirst(self.oldest)
            self.oldest = 0
        }
    }
}
