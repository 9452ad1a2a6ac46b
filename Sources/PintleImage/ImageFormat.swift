// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The supported formats, which are recognised by their first bytes. The raw value is gdk-pixbuf's name.
///
/// gdk-pixbuf has more formats, and systems add others. Hostile bytes can only reach the decoders of those listed here.
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

    /// True if the image is complete. gdk-pixbuf decodes a truncated picture without an error, so this checks formats that
    /// declare their length; gdk-pixbuf detects the truncation of the others itself.
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

    /// True if the file and its second header are as long as they declare, and the pixels begin within the file. gdk-pixbuf
    /// allocates that header, and all that precedes the pixels, before it has the bytes: a file of 70 bytes could make it
    /// allocate 4 GiB.
    private static func bitmapEnds(_ bytes: [UInt8]) -> Bool {
        guard let length = Self.little(bytes, at: 2, size: 4), let pixels = Self.little(bytes, at: 10, size: 4),
            let header = Self.little(bytes, at: 14, size: 4)
        else { return false }
        return length <= bytes.count && pixels <= bytes.count && 14 + header <= bytes.count
    }

    /// Counts the scans of a JPEG. Its segments begin with FF and a marker, and have a length unless they stand alone.
    /// After the segment that begins a scan come the scan's bytes, in which FF is followed by 0 or a restart marker
    /// (ISO/IEC 10918-1 §B.1.1).
    ///
    /// - Returns: the number of scans up to the end; nil if there is no end.
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

    /// The maximum number of scans of a JPEG. Encoders write a dozen; each processes all pixels again, and needs only a few
    /// dozen bytes.
    private static let scanLimit = 100
    /// The number of times that scans may process all pixels of the largest image that is accepted.
    private static let passLimit = 8
    /// The maximum number of bytes to which a TIFF's pixel is unpacked: four samples of 16 bits.
    private static let unpackedBytesPerPixel = 8

    /// Checks the costs of decoding other than the number of pixels.
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

    /// Returns the memory in bytes that an image of this size takes while it is decoded.
    ///
    /// - Returns: nil if the scans of `bytes` process the pixels more often than is accepted.
    func memory(of size: ImageSize, in bytes: [UInt8], pixelLimit: Int) -> Int? {
        let pixels = size.width * size.height
        switch self {
        case .jpeg:
            let scans = Self.jpegScans(bytes) ?? 1
            guard scans <= 1 || scans <= pixelLimit / max(1, pixels) * Self.passLimit else { return nil }
            // For a progressive JPEG, libjpeg keeps the coefficients: three of 16 bits for each pixel.
            return pixels * (scans > 1 ? 10 : 4)
        // libtiff first unpacks the picture to memory of its own.
        case .tiff: return pixels * 8
        case .png, .gif, .bmp, .ico: return pixels * 4
        }
    }

    private static func little(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset + size <= bytes.count else { return nil }
        return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
