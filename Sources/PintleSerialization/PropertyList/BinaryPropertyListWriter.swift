// SPDX-License-Identifier: Apache-2.0

/// Writes binary property lists, version 00, as ``BinaryPropertyListReader`` describes them. ``PropertyListWriter`` has
/// already checked that every value has a form.
///
/// Equal texts are written once. Containers are not shared, so the document cannot expand when it is read.
struct BinaryPropertyListWriter {
    private enum Object {
        case value([UInt8])
        /// The high half of the marker, and the object numbers of keys and members.
        case container(UInt8, [Int])
    }

    private var objects: [Object] = []
    private var texts: [ExactName: Int] = [:]

    static func write(_ parameter: Parameter) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        _ = writer.add(parameter)
        return writer.document()
    }

    // MARK: Objects

    /// - Returns: the number of the object.
    private mutating func add(_ parameter: Parameter) -> Int {
        switch parameter {
        case .bool(let value): return self.add([value ? 0x09 : 0x08])
        case .integer(let value): return self.add(Self.integer(value))
        case .decimal(let text):
            guard let value = UInt64(text) else { preconditionFailure("BUG: a number without a form") }
            // Numbers of eight bytes are signed, so larger ones have sixteen bytes.
            return self.add(
                Int64(exactly: value).map(Self.integer) ?? [0x14] + Self.bytes(0, 8) + Self.bytes(value, 8))
        case .number(let value): return self.add([0x23] + Self.bytes(value.bitPattern, 8))
        case .date(let seconds):
            let value = seconds - BinaryPropertyListReader.epoch
            return self.add([0x33] + Self.bytes(value.bitPattern, 8))
        case .data(let bytes): return self.add(Self.marker(0x40, bytes.count) + bytes)
        case .string(let text): return self.add(text)
        case .array(let elements):
            let number = self.add([])
            self.objects[number] = .container(0xA0, elements.map { self.add($0) })
            return number
        case .dictionary(let entries):
            let number = self.add([])
            let keys = entries.map { self.add($0.key) }
            self.objects[number] = .container(0xD0, keys + entries.map { self.add($0.value) })
            return number
        case .null, .file, .set: preconditionFailure("BUG: a value without a form in a property list")
        }
    }

    private mutating func add(_ bytes: [UInt8]) -> Int {
        self.objects.append(.value(bytes))
        return self.objects.count - 1
    }

    private mutating func add(_ text: String) -> Int {
        if let number = self.texts[ExactName(text)] { return number }
        let number = self.add(Self.bytes(of: text))
        self.texts[ExactName(text)] = number
        return number
    }

    private static func bytes(of text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return self.marker(0x50, text.utf8.count) + text.utf8 }
        return self.marker(0x60, text.utf16.count) + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    /// The number in one, two or four bytes without sign, or in eight with a sign.
    private static func integer(_ value: Int64) -> [UInt8] {
        let size = value < 0 ? 8 : self.size(UInt64(value))
        return [0x10 | UInt8(size.trailingZeroBitCount)] + self.bytes(UInt64(bitPattern: value), size)
    }

    /// The marker of an object with `count` items; if there are 15 or more, the count follows as a number.
    private static func marker(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0xF] + self.integer(Int64(count))
    }

    // MARK: Document

    private func document() -> [UInt8] {
        var document = Array("bplist00".utf8)
        let referenceSize = Self.size(UInt64(self.objects.count))
        var places: [Int] = []
        for object in self.objects {
            places.append(document.count)
            switch object {
            case .value(let bytes): document += bytes
            case .container(let kind, let members):
                document += Self.marker(kind, kind == 0xD0 ? members.count / 2 : members.count)
                for member in members { document += Self.bytes(UInt64(member), referenceSize) }
            }
        }
        let table = document.count
        let placeSize = Self.size(UInt64(table))
        for place in places { document += Self.bytes(UInt64(place), placeSize) }
        document += [0, 0, 0, 0, 0, 0, UInt8(placeSize), UInt8(referenceSize)]
        return document + Self.bytes(UInt64(self.objects.count), 8) + Self.bytes(0, 8) + Self.bytes(UInt64(table), 8)
    }

    /// The smallest sufficient number of bytes: 1, 2, 4 or 8.
    private static func size(_ value: UInt64) -> Int {
        value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
    }

    /// The number in `size` bytes, big-endian.
    private static func bytes(_ value: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }
}
