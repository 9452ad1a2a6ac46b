// SPDX-License-Identifier: Apache-2.0

/// One element of a DER encoding (X.690): a tag and its content.
struct DERElement {
    /// The identifier octet: class, constructed bit and a tag number below 31.
    let tag: UInt8
    let content: ArraySlice<UInt8>
    /// The whole element, including tag and length.
    let encoding: ArraySlice<UInt8>

    /// A reader of the elements inside.
    var elements: DERReader { DERReader(self.content) }
}

/// The error for bytes that do not follow the format; no caller needs the exact place.
struct DERError: Error {}

/// Reads elements one after another, strictly: only definite lengths in their shortest form, and tag numbers below 31.
///
/// It does not recurse, so nested elements cost nothing until they are read.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.rest = bytes
    }

    init(_ bytes: [UInt8]) {
        self.rest = bytes[...]
    }

    /// Makes a reader of the elements of a sequence, which must be all of `bytes`.
    init(sequence bytes: ArraySlice<UInt8>) throws(DERError) {
        self.rest = try DERReader.only(DERTag.sequence, in: bytes).content
    }

    /// Returns the only element of the bytes, which must have this tag.
    static func only(_ tag: UInt8, in bytes: ArraySlice<UInt8>) throws(DERError) -> DERElement {
        var reader = DERReader(bytes)
        let element = try reader.next(tag)
        try reader.end()
        return element
    }

    var isAtEnd: Bool { self.rest.isEmpty }

    /// The tag of the next element; nil at the end.
    var nextTag: UInt8? { self.rest.first }

    mutating func next() throws(DERError) -> DERElement {
        let start = self.rest.startIndex
        guard self.rest.count >= 2 else { throw DERError() }
        let tag = self.rest[start]
        guard tag & 0x1F != 0x1F else { throw DERError() }
        var position = start + 1
        let first = self.rest[position]
        position += 1
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), self.rest.endIndex - position >= count else { throw DERError() }
            length = self.rest[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80, self.rest[position] != 0 else { throw DERError() }
            position += count
        }
        guard self.rest.endIndex - position >= length else { throw DERError() }
        let end = position + length
        let element = DERElement(
            tag: tag, content: self.rest[position..<end], encoding: self.rest[start..<end])
        self.rest = self.rest[end...]
        return element
    }

    mutating func next(_ tag: UInt8) throws(DERError) -> DERElement {
        guard self.nextTag == tag else { throw DERError() }
        return try self.next()
    }

    mutating func optional(_ tag: UInt8) throws(DERError) -> DERElement? {
        self.nextTag == tag ? try self.next() : nil
    }

    /// Reads a BOOLEAN that is FALSE if left out. An explicit FALSE is accepted: DER omits the default, but some
    /// certificates write it.
    mutating func flag() throws(DERError) -> Bool {
        guard let element = try self.optional(DERTag.boolean) else { return false }
        guard element.content.count == 1, let value = element.content.first, value == 0 || value == 0xFF else {
            throw DERError()
        }
        return value != 0
    }

    func end() throws(DERError) {
        guard self.rest.isEmpty else { throw DERError() }
    }
}

/// Identifier octets of the universal types that certificates use.
enum DERTag {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let numericString: UInt8 = 0x12
    static let printableString: UInt8 = 0x13
    static let teletexString: UInt8 = 0x14
    static let ia5String: UInt8 = 0x16
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let visibleString: UInt8 = 0x1A
    static let generalString: UInt8 = 0x1B
    static let universalString: UInt8 = 0x1C
    static let bmpString: UInt8 = 0x1E
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    /// Returns the context-specific tag of a value that is written in place of a universal one.
    static func implicit(_ number: UInt8) -> UInt8 { 0x80 | number }
    /// Returns the context-specific tag of a value that holds others.
    static func constructed(_ number: UInt8) -> UInt8 { 0xA0 | number }
}

extension DERElement {
    /// Returns the value of a non-negative INTEGER that fits; only the shortest form is accepted.
    func smallInteger() throws(DERError) -> Int {
        let bytes = try self.integerBytes()
        guard let first = bytes.first, first < 0x80, bytes.count <= 8 else { throw DERError() }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the bytes of an INTEGER in two's complement; only the shortest form is accepted.
    func integerBytes() throws(DERError) -> ArraySlice<UInt8> {
        guard let first = self.content.first else { throw DERError() }
        if let second = self.content.dropFirst().first {
            guard !(first == 0 && second < 0x80), !(first == 0xFF && second >= 0x80) else { throw DERError() }
        }
        return self.content
    }

    /// Returns the bits of a BIT STRING, the first one being bit 0; trailing zeros may be left out.
    ///
    /// Only for lists of named bits, of which X.509 has at most nine: a string longer than 64 bits is an error.
    func bits() throws(DERError) -> [Bool] {
        guard let unused = self.content.first, unused < 8, unused == 0 || self.content.count > 1,
            self.content.count <= 1 + 8
        else { throw DERError() }
        let bytes = self.content.dropFirst()
        let bits: [Bool] = bytes.flatMap { byte -> [Bool] in (0..<8).map { (byte >> (7 - $0)) & 1 == 1 } }
        return Array(bits.dropLast(Int(unused)))
    }
}
