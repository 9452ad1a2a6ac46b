// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The directory of a TIFF's first picture (TIFF 6.0 §2). Only those entries are read that tell how far the file must reach
/// and how many bytes libtiff will unpack.
///
/// libtiff takes missing parts of a picture or its colours for zeros, so their presence is checked here.
struct TIFFDirectory {
    /// The tags that are read.
    private enum Tag: Int {
        case width = 256
        case height = 257
        case bitsPerSample = 258
        case stripOffsets = 273
        case samplesPerPixel = 277
        case stripLengths = 279
        case tileWidth = 322
        case tileHeight = 323
        case tileOffsets = 324
        case tileLengths = 325

        /// Returns the number of values to read: all of those that list pieces, and otherwise the first.
        func count(of count: Int) -> Int {
            switch self {
            case .stripOffsets, .stripLengths, .tileOffsets, .tileLengths, .bitsPerSample: count
            case .width, .height, .samplesPerPixel, .tileWidth, .tileHeight: min(1, count)
            }
        }
    }

    private let bytes: [UInt8]
    private let isBig: Bool
    /// The values by tag; nil if the directory or the data of an entry do not lie within the file, or if a tag occurs
    /// twice.
    private var values: [Tag: [Int]]?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.isBig = bytes.first == UInt8(ascii: "M")
        self.values = self.read()
    }

    /// True if the directory, the data of its entries, and the pieces of the picture lie within the file. Lengths of pieces
    /// that are missing or 0 are left to libtiff, which computes them.
    var isWhole: Bool {
        guard let values = self.values else { return false }
        return self.holds(values[.stripOffsets], values[.stripLengths])
            && self.holds(values[.tileOffsets], values[.tileLengths])
    }

    /// The maximum number of bytes that libtiff unpacks; `Int.max` if the directory has no size.
    var unpackedBytes: Int {
        guard let values = self.values, let width = values[.width]?.first, let height = values[.height]?.first else {
            return .max
        }
        let samples = max(1, values[.samplesPerPixel]?.first ?? 1)
        let bits = max(1, values[.bitsPerSample]?.max() ?? 1)
        // Tiles are unpacked whole, even if they reach beyond the picture.
        let columns = Self.rounded(width, up: values[.tileWidth]?.first ?? 1)
        let rows = Self.rounded(height, up: values[.tileHeight]?.first ?? 1)
        var product = 1
        for factor in [columns, rows, samples, bits] {
            let (next, isBeyond) = product.multipliedReportingOverflow(by: factor)
            if isBeyond { return .max }
            product = next
        }
        return product / 8
    }

    private static let entrySize = 12

    private func read() -> [Tag: [Int]]? {
        guard let start = self.number(at: 4, size: 4), let count = self.number(at: start, size: 2),
            start + 2 + count * Self.entrySize <= self.bytes.count
        else { return nil }
        var values: [Tag: [Int]] = [:]
        var seen: Set<Int> = []
        var inAll = 0
        for index in 0..<count {
            let entry = start + 2 + index * Self.entrySize
            guard let number = self.number(at: entry, size: 2), let place = self.place(ofEntryAt: entry) else {
                return nil
            }
            // Each tag occurs once (TIFF 6.0 §2), and each entry has its own data. If entries shared data, the same bytes
            // could be read 65,535 times, here and in libtiff.
            inAll += place.range.count
            guard seen.insert(number).inserted, inAll <= self.bytes.count else { return nil }
            guard let tag = Tag(rawValue: number), place.type == 3 || place.type == 4 else { continue }
            let read = tag.count(of: place.range.count / place.size)
            values[tag] = (0..<read).compactMap {
                self.number(at: place.range.lowerBound + $0 * place.size, size: place.size)
            }
        }
        return values
    }

    /// - Returns: nil if the values lie outside of the file.
    private func place(ofEntryAt entry: Int) -> (range: Range<Int>, size: Int, type: Int)? {
        guard let type = self.number(at: entry + 2, size: 2), let count = self.number(at: entry + 4, size: 4) else {
            return nil
        }
        let size =
            switch type {
            case 3, 8: 2
            case 4, 9, 11, 13: 4
            case 5, 10, 12: 8
            default: 1
            }
        let length = count * size
        guard let start = length <= 4 ? entry + 8 : self.number(at: entry + 8, size: 4),
            start + length <= self.bytes.count
        else { return nil }
        return (start..<start + length, size, type)
    }

    private func holds(_ offsets: [Int]?, _ lengths: [Int]?) -> Bool {
        guard let offsets, let lengths else { return true }
        // Each piece is read once, so all pieces together cannot be longer than the file.
        return zip(offsets, lengths).allSatisfy { $0 + $1 <= self.bytes.count }
            && lengths.reduce(0, +) <= self.bytes.count
    }

    private static func rounded(_ value: Int, up step: Int) -> Int {
        let step = max(1, step)
        return (value + step - 1) / step * step
    }

    private func number(at offset: Int, size: Int) -> Int? {
        guard offset + size <= self.bytes.count else { return nil }
        let bytes = self.bytes[offset..<offset + size]
        return self.isBig ? bytes.reduce(0) { $0 << 8 | Int($1) } : bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
