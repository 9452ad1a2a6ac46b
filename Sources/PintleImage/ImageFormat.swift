// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The formats that are decoded, told by their first bytes. The raw value is gdk-pixbuf's name.
///
/// gdk-pixbuf knows more, and systems add to them. What is named here is all that hostile bytes can reach.
enum ImageFormat: String, CaseIterable {
    case png, jpeg, gif, tiff, bmp, ico

    init?(of bytes: [UInt8]) {
        guard let format = Self.allCases.first(where: { $0.marks.contains { bytes.starts(with: $0) } }) else {
            return nil
        }
        self = format
    }

    private var marks: [[UInt8]] {
        switch self {
        case .png: [[0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]]
        case .jpeg: [[0xFF, 0xD8, 0xFF]]
        case .gif: [Array("GIF87a".utf8), Array("GIF89a".utf8)]
        case .tiff: [[0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A]]
        case .bmp: [Array("BM".utf8)]
        case .ico: [[0, 0, 1, 0], [0, 0, 2, 0]]
        }
    }

    /// Whether `bytes` have an end. gdk-pixbuf paints what there is of a picture that is cut off and calls it loaded, so
    /// where a format says how far it goes, that is asked. It finds out about the others by itself.
    func isWhole(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .png: PNGChunks(bytes).isWhole
        case .jpeg: Self.jpegScans(bytes) != nil
        case .bmp: Self.bitmapEnds(bytes)
        case .ico: IconDirectory(bytes).isWhole
        case .tiff: TIFFDirectory(bytes).isWhole
        case .gif: true
        }
    }

    /// Whether the file and its second header are as long as they say, and the pixels begin within it. gdk-pixbuf makes room
    /// for that header, and for all that comes before the pixels, before it is there: 70 bytes could ask for 4 GiB.
    private static func bitmapEnds(_ bytes: [UInt8]) -> Bool {
        guard let length = Self.little(bytes, at: 2, size: 4), let pixels = Self.little(bytes, at: 10, size: 4),
            let header = Self.little(bytes, at: 14, size: 4)
        else { return false }
        return length <= bytes.count && pixels <= bytes.count && 14 + header <= bytes.count
    }

    /// Segments that begin with FF and a marker, with a length but for those that stand alone; after the one that begins
    /// a scan come its bytes, in which FF is followed by 0 or a restart marker (ISO/IEC 10918-1 §B.1.1).
    ///
    /// - Returns: how many scans there are up to the end; nil where there is no end.
    private static func jpegScans(_ bytes: [UInt8]) -> Int? {
        var scans = 0
        var index = 2
        var isInScan = false
        while index + 1 < bytes.count {
            guard bytes[index] == 0xFF else {
                guard isInScan else { return nil }
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case 0xD9: return scans
            case 0xFF: index += 1
            case 0x00, 0x01, 0xD0...0xD7: index += 2
            case let marker:
                guard index + 3 < bytes.count else { return nil }
                isInScan = marker == 0xDA
                if isInScan { scans += 1 }
                index += 2 + (Int(bytes[index + 2]) << 8 | Int(bytes[index + 3]))
            }
        }
        return nil
    }

    /// The most scans of a JPEG. Encoders write a dozen; each goes over all pixels again, and takes a few dozen bytes.
    private static let scanLimit = 100
    /// How often all pixels of the largest image that is accepted may be gone over.
    private static let passLimit = 8
    /// The bytes of a TIFF's pixel that are unpacked at most: four samples of 16 bits.
    private static let unpackedBytesPerPixel = 8

    /// Holds an image to what decoding costs beyond its pixels.
    ///
    /// - Throws: `.tooLarge`.
    func checkCost(of bytes: [UInt8], pixelLimit: Int, within budget: WorkBudget) throws(ImageError) {
        switch self {
        case .png: try PNGTextBudget.check(bytes, within: budget)
        case .jpeg:
            guard let scans = Self.jpegScans(bytes), scans > Self.scanLimit else { return }
            throw ImageError(.tooLarge, "\(scans) scans are more than the \(Self.scanLimit) that are accepted")
        case .tiff:
            let (limit, isBeyond) = pixelLimit.multipliedReportingOverflow(by: Self.unpackedBytesPerPixel)
            guard !isBeyond, TIFFDirectory(bytes).unpackedBytes > limit else { return }
            throw ImageError(.tooLarge, "unpacked it has more than the \(limit) bytes that are accepted")
        case .gif, .bmp, .ico: break
        }
    }

    /// How often an image of such a size may be gone over, and how much memory a pixel of it takes while it is decoded.
    ///
    /// - Returns: nil where `bytes` go over it more often than that.
    func memory(of size: ImageSize, in bytes: [UInt8], pixelLimit: Int) -> Int? {
        let pixels = size.width * size.height
        switch self {
        case .jpeg:
            let scans = Self.jpegScans(bytes) ?? 1
            guard scans <= 1 || scans <= pixelLimit / max(1, pixels) * Self.passLimit else { return nil }
            // Of a progressive one the coefficients are kept: three of 16 bits for a pixel.
            return pixels * (scans > 1 ? 10 : 4)
        // libtiff makes a picture of its own first.
        case .tiff: return pixels * 8
        case .png, .gif, .bmp, .ico: return pixels * 4
        }
    }

    private static func little(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset + size <= bytes.count else { return nil }
        return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
