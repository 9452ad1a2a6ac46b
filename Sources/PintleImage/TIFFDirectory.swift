// SPDX-License-Identifier: Apache-2.0

/// The directory of a TIFF's first picture (TIFF 6.0 §2), read as far as it says where the file has to reach.
///
/// libtiff takes what is missing of a picture or its colours for nothing, so it is asked here whether it is there.
struct TIFFDirectory {
    private let bytes: [UInt8]
    private let isBig: Bool

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.isBig = bytes.first == UInt8(ascii: "M")
    }

    /// Whether the directory, what its entries point to, and the pieces of the picture lie within the file. Lengths of
    /// pieces that are not told, or told to be 0, are left to libtiff, which works them out.
    var isWhole: Bool {
        guard let start = self.number(at: 4, size: 4), let count = self.number(at: start, size: 2),
            start + 2 + count * Self.entrySize <= self.bytes.count
        else { return false }
        var places: [Int: [Int]] = [:]
        for index in 0..<count {
            let entry = start + 2 + index * Self.entrySize
            guard let tag = self.number(at: entry, size: 2), let values = self.values(ofEntryAt: entry, tag) else {
                return false
            }
            if let values { places[tag] = values }
        }
        return self.holds(places[273], places[279]) && self.holds(places[324], places[325])
    }

    private static let entrySize = 12
    /// Offsets and lengths of strips and of tiles.
    private static let pieceTags: Set<Int> = [273, 279, 324, 325]

    /// - Returns: nil where the values lie outside of the file; nil within where they are of no interest.
    private func values(ofEntryAt entry: Int, _ tag: Int) -> [Int]?? {
        guard let type = self.number(at: entry + 2, size: 2), let count = self.number(at: entry + 4, size: 4) else {
            return .none
        }
        let size =
            switch type {
            case 3, 8: 2
            case 4, 9, 11, 13: 4
            case 5, 10, 12: 8
            default: 1
            }
        let length = count * size
        guard let place = length <= 4 ? entry + 8 : self.number(at: entry + 8, size: 4),
            place + length <= self.bytes.count
        else { return .none }
        guard Self.pieceTags.contains(tag), type == 3 || type == 4 else { return .some(nil) }
        return .some((0..<count).compactMap { self.number(at: place + $0 * size, size: size) })
    }

    private func holds(_ offsets: [Int]?, _ lengths: [Int]?) -> Bool {
        guard let offsets, let lengths else { return true }
        return zip(offsets, lengths).allSatisfy { $0 + $1 <= self.bytes.count }
    }

    private func number(at offset: Int, size: Int) -> Int? {
        guard offset + size <= self.bytes.count else { return nil }
        let bytes = self.bytes[offset..<offset + size]
        return self.isBig ? bytes.reduce(0) { $0 << 8 | Int($1) } : bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
