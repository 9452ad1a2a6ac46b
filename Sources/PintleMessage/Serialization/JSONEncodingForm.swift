// SPDX-License-Identifier: Apache-2.0

/// Which Unicode encoding a JSON document is in.
///
/// JSON has no zero bytes, and its first two characters are ASCII in every valid document but a one-character one, so
/// zeros among the first four bytes tell (RFC 4627 §3).
enum JSONEncodingForm: Equatable {
    /// UTF-8, after a byte order mark of so many bytes.
    case utf8(mark: Int)
    case utf16(mark: Int, bigEndian: Bool)
    case utf32(mark: Int, bigEndian: Bool)

    init(of bytes: some RandomAccessCollection<UInt8>) {
        let head = Array(bytes.prefix(4))
        if head.starts(with: [0xEF, 0xBB, 0xBF]) {
            self = .utf8(mark: 3)
        } else if head == [0xFF, 0xFE, 0, 0] {
            self = .utf32(mark: 4, bigEndian: false)
        } else if head == [0, 0, 0xFE, 0xFF] {
            self = .utf32(mark: 4, bigEndian: true)
        } else if head.starts(with: [0xFF, 0xFE]) {
            self = .utf16(mark: 2, bigEndian: false)
        } else if head.starts(with: [0xFE, 0xFF]) {
            self = .utf16(mark: 2, bigEndian: true)
        } else {
            self = Self.withoutMark(head)
        }
    }

    private static func withoutMark(_ head: [UInt8]) -> JSONEncodingForm {
        guard head.count >= 2 else { return .utf8(mark: 0) }
        switch (head[0] == 0, head[1] == 0) {
        case (true, true): return .utf32(mark: 0, bigEndian: true)
        case (true, false): return .utf16(mark: 0, bigEndian: true)
        case (false, true):
            let isWide = head.count == 4 && head[2] == 0 && head[3] == 0
            return isWide ? .utf32(mark: 0, bigEndian: false) : .utf16(mark: 0, bigEndian: false)
        case (false, false): return .utf8(mark: 0)
        }
    }

    /// The text in UTF-8, without byte order mark, up to the first thing that is not text.
    ///
    /// - Returns: the text, and whether all of `bytes` were text.
    func transcode(_ bytes: some RandomAccessCollection<UInt8>) -> (utf8: [UInt8], isWhole: Bool) {
        switch self {
        case .utf8(let mark): (Array(bytes.dropFirst(mark)), true)
        case .utf16(let mark, let bigEndian):
            Self.transcode(Self.units(bytes.dropFirst(mark), UInt16.self, bigEndian), bytes.count % 2, UTF16.self)
        case .utf32(let mark, let bigEndian):
            Self.transcode(Self.units(bytes.dropFirst(mark), UInt32.self, bigEndian), bytes.count % 4, UTF32.self)
        }
    }

    private static func units<Unit: FixedWidthInteger>(
        _ bytes: some Collection<UInt8>, _: Unit.Type, _ bigEndian: Bool
    ) -> [Unit] {
        let width = Unit.bitWidth / 8
        var units: [Unit] = []
        units.reserveCapacity(bytes.count / width)
        var unit: Unit = 0
        var filled = 0
        for byte in bytes {
            unit = unit << 8 | Unit(byte)
            filled += 1
            if filled == width {
                units.append(bigEndian ? unit : unit.byteSwapped)
                (unit, filled) = (0, 0)
            }
        }
        return units
    }

    private static func transcode<Encoding: UnicodeCodec>(
        _ units: [Encoding.CodeUnit], _ leftOver: Int, _: Encoding.Type
    ) -> (utf8: [UInt8], isWhole: Bool) {
        var result: [UInt8] = []
        result.reserveCapacity(units.count)
        var codec = Encoding()
        var rest = units.makeIterator()
        while true {
            switch codec.decode(&rest) {
            case .scalarValue(let scalar): UTF8.encode(scalar) { result.append($0) }
            case .emptyInput: return (result, leftOver == 0)
            case .error: return (result, false)
            }
        }
    }
}
