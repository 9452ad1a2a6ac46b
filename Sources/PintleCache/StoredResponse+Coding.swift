// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension StoredResponse {
    /// The longest form that is read, in bytes. It is far above the size of stored heads: at most 64 KiB.
    package static let longestForm = 1 << 20

    /// The first byte of the form. Forms of other versions have other numbers, and are not read.
    private static let version: UInt8 = 1

    /// Its binary form: a version, then numbers in LEB128, texts as length and bytes, and lists as count and members.
    package func encoded() -> [UInt8] {
        var writer = FormWriter()
        writer.byte(Self.version)
        writer.number(UInt64(self.head.status))
        writer.bytes(self.head.reason.utf8)
        writer.number(UInt64(self.head.fields.count))
        self.head.fields.forEachLine { _, line in
            // A name is a token, so the first colon is the one that ends it; a space follows.
            let end = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            writer.bytes(line[..<end])
            writer.bytes(line[min(end + 2, line.endIndex)...])
        }
        writer.number(UInt64(bitPattern: self.requestTime.seconds))
        writer.number(UInt64(bitPattern: self.responseTime.seconds))
        writer.number(UInt64(bitPattern: self.initialAge))
        writer.number(UInt64(self.selecting.count))
        for field in self.selecting {
            writer.bytes(field.name.utf8)
            writer.byte(field.value == nil ? 0 : 1)
            if let value = field.value { writer.bytes(value) }
        }
        writer.number(self.length)
        writer.byte(self.range == nil ? 0 : 1)
        if let range = self.range {
            writer.number(range.lowerBound)
            writer.number(range.upperBound)
        }
        writer.number(UInt64(self.tags.count))
        for tag in self.tags { writer.bytes(tag.utf8) }
        return writer.bytes
    }

    /// Reads the binary form.
    ///
    /// - Returns: nil for bytes that ``encoded()`` does not write: other versions, bytes after the end, numbers in a longer
    ///   form than needed, names that are not tokens, values that would split a head, a range outside of the representation.
    package init?(decoding bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count <= Self.longestForm else { return nil }
        var reader = StoredFormReader(bytes)
        guard reader.byte() == Self.version, let head = reader.head(),
            let requestTime = reader.time(), let responseTime = reader.time(),
            let initialAge = reader.number(), initialAge <= UInt64(CacheTime.longest),
            let selecting = reader.list({ $0.selectingField() }), let length = reader.number(), length < 1 << 63,
            let hasRange = reader.flag()
        else { return nil }
        var range: Range<UInt64>?
        if hasRange {
            guard let start = reader.number(), let end = reader.number(), start < end, end <= length else { return nil }
            range = start..<end
        }
        guard let tags = reader.list({ $0.text() }), reader.isAtEnd else { return nil }
        self.init(
            head: head, requestTime: requestTime, responseTime: responseTime, initialAge: Int64(initialAge),
            selecting: selecting, length: length, range: range, tags: tags)
    }
}

/// Writes the parts of the form.
private struct FormWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ byte: UInt8) { self.bytes.append(byte) }

    mutating func number(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func bytes(_ bytes: some Collection<UInt8>) {
        self.number(UInt64(bytes.count))
        self.bytes.append(contentsOf: bytes)
    }
}

/// Reads the parts of the form; nil if they are missing or malformed.
private struct StoredFormReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { self.place == self.bytes.count }

    mutating func byte() -> UInt8? {
        guard self.place < self.bytes.count else { return nil }
        defer { self.place += 1 }
        return self.bytes[self.place]
    }

    mutating func flag() -> Bool? {
        switch self.byte() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    mutating func number() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = self.byte() else { return nil }
            let part = UInt64(byte & 0x7F)
            // The tenth byte has room for one bit.
            guard shift < 63 || part <= 1 else { return nil }
            number |= part << shift
            // Only the shortest form of a number is valid.
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : number }
        }
        return nil
    }

    mutating func time() -> CacheTime? { self.number().map { CacheTime(seconds: Int64(bitPattern: $0)) } }

    mutating func string() -> ArraySlice<UInt8>? {
        guard let count = self.number(), count <= UInt64(self.bytes.count - self.place) else { return nil }
        defer { self.place += Int(count) }
        return self.bytes[self.place..<self.place + Int(count)]
    }

    mutating func text() -> String? { self.string().flatMap { String(validating: $0, as: UTF8.self) } }

    /// Reads a list whose members have at least one byte each, so that a count never asks for more memory than there are bytes.
    mutating func list<Member>(_ member: (inout StoredFormReader) -> Member?) -> [Member]? {
        guard let count = self.number(), count <= UInt64(self.bytes.count - self.place) else { return nil }
        var members: [Member] = []
        for _ in 0..<count {
            guard let next = member(&self) else { return nil }
            members.append(next)
        }
        return members
    }

    mutating func selectingField() -> SelectingField? {
        guard let name = self.string(), ASCII.isToken(name), let hasValue = self.flag() else { return nil }
        let spelled = String(decoding: name, as: UTF8.self)
        guard hasValue else { return SelectingField(name: spelled, value: nil) }
        return self.string().map { SelectingField(name: spelled, value: Array($0)) }
    }

    mutating func head() -> ResponseHead? {
        guard let status = self.number(), 200...999 ~= status, let reason = self.text(),
            reason.utf8.allSatisfy(Self.isValueByte), let count = self.number(),
            count <= UInt64(self.bytes.count - self.place)
        else { return nil }
        var fields = Fields()
        for _ in 0..<count {
            guard let name = self.string(), ASCII.isToken(name), let value = self.string(),
                value.allSatisfy(Self.isValueByte)
            else { return nil }
            name.withUnsafeBytes { name in value.withUnsafeBytes { fields.append(name: name, value: $0) } }
        }
        return ResponseHead(status: UInt16(status), reason: reason, fields: fields)
    }

    /// True for a byte that a field value may have. Stored heads go to clients, and a line break would start a second response.
    private static func isValueByte(_ byte: UInt8) -> Bool { byte == 0x09 || (byte >= 0x20 && byte != 0x7F) }
}
