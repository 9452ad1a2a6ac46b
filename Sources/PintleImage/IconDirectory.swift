// SPDX-License-Identifier: Apache-2.0

/// The directory of a Windows icon: up to 65535 pictures, each with a length and an offset. A picture is a bitmap or a PNG.
struct IconDirectory {
    private static let headSize = 6
    private static let entrySize = 16

    private let bytes: [UInt8]
    /// The bytes of each picture; nil if a picture or the directory does not lie within the file.
    private let pictures: [Range<Int>]?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var pictures: [Range<Int>] = []
        guard let count = Self.number(in: bytes, at: 4, size: 2) else {
            self.pictures = nil
            return
        }
        for index in 0..<count {
            let entry = Self.headSize + index * Self.entrySize
            guard let length = Self.number(in: bytes, at: entry + 8, size: 4),
                let start = Self.number(in: bytes, at: entry + 12, size: 4), start + length <= bytes.count
            else {
                self.pictures = nil
                return
            }
            pictures.append(start..<start + length)
        }
        self.pictures = pictures
    }

    /// True if every picture lies within the file, and the pixels of each bitmap within its picture.
    var isWhole: Bool { self.pictures?.allSatisfy(self.holdsItsPixels) ?? false }

    /// The first picture as a PNG or as an icon of its own; nil if none of the pictures is a PNG. gdk-pixbuf selects the
    /// best picture of an icon, and refuses the icon if that is a PNG; icons of websites often have them.
    var firstPicture: [UInt8]? {
        guard let pictures = self.pictures, let first = pictures.first, pictures.contains(where: self.isPNG) else {
            return nil
        }
        if self.isPNG(first) { return Array(self.bytes[first]) }
        let place = Self.headSize + Self.entrySize
        return self.bytes[..<4] + [1, 0] + self.bytes[Self.headSize..<place - 4] + [UInt8(place), 0, 0, 0]
            + self.bytes[first]
    }

    private func isPNG(_ picture: Range<Int>) -> Bool { ImageFormat(of: Array(self.bytes[picture].prefix(8))) == .png }

    /// True if a bitmap is as long as its header says; gdk-pixbuf would decode a truncated one without an error. The height
    /// in the header includes the mask. The mask is not checked, because some encoders omit it.
    private func holdsItsPixels(_ picture: Range<Int>) -> Bool {
        let field = { (offset: Int, size: Int) in
            picture.count >= offset + size
                ? Self.number(in: self.bytes, at: picture.lowerBound + offset, size: size) : nil
        }
        guard !self.isPNG(picture) else { return true }
        guard let header = field(0, 4), let width = field(4, 4), let height = field(8, 4), let depth = field(14, 2),
            let compression = field(16, 4), let colours = field(32, 4)
        else { return false }
        guard header <= picture.count else { return false }
        guard compression == 0 else { return true }
        let paletteCount = colours > 0 ? colours : depth <= 8 ? 1 << depth : 0
        // This cannot overflow: the width has 32 bits, the depth 16.
        let row = (width * depth + 31) / 32 * 4
        let (pixels, isBeyond) = row.multipliedReportingOverflow(by: height / 2)
        guard !isBeyond, pixels <= picture.count else { return false }
        return header + paletteCount * 4 + pixels <= picture.count
    }

    private static func number(in bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset + size <= bytes.count else { return nil }
        return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
