// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Reads binary property lists, version 00: objects, then a table with the place of each, then 32 bytes about the table.
///
/// Foundation's reader is not used, because it trusts the document. Containers refer to their members by number, so several
/// can share one: thirty arrays, each of which has the next one twice, make a thousand million values, and a thousand
/// entries can share one megabyte of text. A set with a member ends the process in Foundation.
struct BinaryPropertyListReader {
    /// The maximum number of values for each byte of the document. A document without shared containers has fewer values
    /// than bytes, but some writers share equal containers.
    private static let valuesPerByte = 8
    /// The maximum size of text and data for each byte of the document, if that is more than ``textFloor``. Every writer
    /// shares keys, so their total size can be far larger than the document.
    private static let textPerByte = 16
    /// The size of text and data that even a small document may have, in bytes.
    private static let textFloor = 1 << 20
    /// The maximum number of levels of containers.
    private static let nestingLimit = 512
    /// The beginning of 2001, from which dates count, in seconds since the beginning of 1970.
    static let epoch = 978_307_200.0

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let table: Int
    private var remaining: Int
    private var remainingText: Int

    static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

    static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        var reader = try BinaryPropertyListReader(bytes)
        return try reader.value(of: try reader.integer(at: bytes.count - 16, size: 8), depth: 0)
    }

    private init(_ bytes: [UInt8]) throws(PropertyListError) {
        let trailer = bytes.count - 32
        guard trailer > 8, bytes.starts(with: "bplist00".utf8) else { throw Self.broken }
        self.bytes = bytes
        self.offsetSize = Int(bytes[trailer + 6])
        self.referenceSize = Int(bytes[trailer + 7])
        self.objectCount = try Self.integer(in: bytes, at: trailer + 8, size: 8)
        self.table = try Self.integer(in: bytes, at: trailer + 24, size: 8)
        self.remaining = bytes.count * Self.valuesPerByte
        self.remainingText = max(Self.textFloor, bytes.count * Self.textPerByte)
        guard 1...8 ~= self.offsetSize, 1...8 ~= self.referenceSize, self.table <= trailer,
            self.objectCount <= (trailer - self.table) / self.offsetSize
        else { throw Self.broken }
    }

    // MARK: Values

    private mutating func value(of object: Int, depth: Int) throws(PropertyListError) -> PropertyListValue {
        self.remaining -= 1
        guard self.remaining >= 0 else { throw PropertyListError("the document has far more values than bytes") }
        guard depth <= Self.nestingLimit else {
            throw PropertyListError("the document has more than \(Self.nestingLimit) levels of containers")
        }
        guard object < self.objectCount else { throw Self.broken }
        let start = try self.integer(at: self.table + object * self.offsetSize, size: self.offsetSize)
        guard start < self.table else { throw Self.broken }
        let (kind, low) = (self.bytes[start] >> 4, Int(self.bytes[start] & 0xF))
        switch (kind, low) {
        case (0, 8), (0, 9): return .bool(low == 9)
        case (1, 0...4): return try self.whole(at: start + 1, size: 1 << low)
        case (2, 2): return .real(Double(Float(bitPattern: UInt32(try self.bits(at: start + 1, size: 4)))))
        case (2, 3): return .real(Double(bitPattern: try self.bits(at: start + 1, size: 8)))
        case (3, 3): return .date(Double(bitPattern: try self.bits(at: start + 1, size: 8)) + Self.epoch)
        case (4, _): return .data(Array(try self.text(of: start, itemSize: 1)))
        case (5, _): return .string(try self.ascii(of: start))
        case (6, _): return .string(try self.utf16(of: start))
        case (0xA, _): return .array(try self.members(of: start, depth: depth))
        case (0xD, _): return .dictionary(try self.entries(of: start, depth: depth))
        default: throw PropertyListError("the document has a value that is neither text, number, date nor container")
        }
    }

    private func whole(at offset: Int, size: Int) throws(PropertyListError) -> PropertyListValue {
        // Numbers of up to four bytes are unsigned, those of eight are signed, and larger ones have sixteen.
        guard size == 16 else { return .integer(Int64(bitPattern: try self.bits(at: offset, size: size))) }
        guard try self.bits(at: offset, size: 8) == 0 else {
            throw PropertyListError("the document has a whole number that needs more than 64 bits")
        }
        let value = try self.bits(at: offset + 8, size: 8)
        return Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
    }

    private mutating func ascii(of start: Int) throws(PropertyListError) -> String {
        let run = try self.text(of: start, itemSize: 1)
        guard run.allSatisfy({ $0 < 0x80 }) else { throw PropertyListError("the document has text that is not ASCII") }
        return String(decoding: run, as: UTF8.self)
    }

    private mutating func utf16(of start: Int) throws(PropertyListError) -> String {
        let run = Array(try self.text(of: start, itemSize: 2))
        let units = stride(from: 0, to: run.count, by: 2).map { UInt16(run[$0]) << 8 | UInt16(run[$0 + 1]) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw PropertyListError("the document has text that is not UTF-16")
        }
        return text
    }

    private mutating func members(of start: Int, depth: Int) throws(PropertyListError) -> [PropertyListValue] {
        var result: [PropertyListValue] = []
        for reference in try self.references(of: start, perItem: 1) {
            result.append(try self.value(of: reference, depth: depth + 1))
        }
        return result
    }

    private mutating func entries(of start: Int, depth: Int) throws(PropertyListError) -> [String: PropertyListValue] {
        let references = try self.references(of: start, perItem: 2)
        var result: [String: PropertyListValue] = [:]
        for (key, member) in zip(references, references.dropFirst(references.count / 2)) {
            guard case .string(let name) = try self.value(of: key, depth: depth + 1) else {
                throw PropertyListError("the document has a key that is no text")
            }
            guard name.isStreamSafe else { throw .unsafeKey }
            guard result.updateValue(try self.value(of: member, depth: depth + 1), forKey: name) == nil else {
                throw PropertyListError("the document has a dictionary with a key twice")
            }
        }
        return result
    }

    // MARK: Bytes

    private static let broken = PropertyListError("the document has values that lie outside of it")

    /// Returns the object numbers in a container.
    private func references(of start: Int, perItem: Int) throws(PropertyListError) -> [Int] {
        let run = try self.run(of: start, itemSize: perItem * self.referenceSize)
        var result: [Int] = []
        result.reserveCapacity(run.count / self.referenceSize)
        for offset in stride(from: run.startIndex, to: run.endIndex, by: self.referenceSize) {
            result.append(try self.integer(at: offset, size: self.referenceSize))
        }
        return result
    }

    /// Returns the bytes of text or data, and counts them against ``remainingText``, because the caller copies them.
    private mutating func text(of start: Int, itemSize: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
        let run = try self.run(of: start, itemSize: itemSize)
        self.remainingText -= run.count
        guard self.remainingText >= 0 else { throw PropertyListError("the document has far more text than bytes") }
        return run
    }

    /// Returns the items after the marker of an object. Their number is the low half of the marker or, if that is 15, the
    /// number that follows the marker.
    private func run(of start: Int, itemSize: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
        var (first, count) = (start + 1, Int(self.bytes[start] & 0xF))
        if count == 0xF {
            guard self.bytes[first] >> 4 == 1, self.bytes[first] & 0xF <= 3 else { throw Self.broken }
            let size = 1 << Int(self.bytes[first] & 0xF)
            count = try self.integer(at: first + 1, size: size)
            first += 1 + size
        }
        guard first <= self.table, count <= (self.table - first) / itemSize else { throw Self.broken }
        return self.bytes[first..<first + count * itemSize]
    }

    /// Reads a number of bytes or values, which is never larger than the document.
    private func integer(at offset: Int, size: Int) throws(PropertyListError) -> Int {
        try Self.integer(in: self.bytes, at: offset, size: size)
    }

    private static func integer(
        in bytes: [UInt8], at offset: Int, size: Int
    ) throws(PropertyListError) -> Int {
        let value = try Self.bits(in: bytes, at: offset, size: size)
        guard value <= UInt64(bytes.count) else { throw Self.broken }
        return Int(value)
    }

    private func bits(at offset: Int, size: Int) throws(PropertyListError) -> UInt64 {
        try Self.bits(in: self.bytes, at: offset, size: size)
    }

    /// Reads a big-endian number.
    private static func bits(in bytes: [UInt8], at offset: Int, size: Int) throws(PropertyListError) -> UInt64 {
        guard offset >= 0, offset <= bytes.count - size else { throw Self.broken }
        return bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
