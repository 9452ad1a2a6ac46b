// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Unpacks the pictures of a GIF and draws each over the one before it.
///
/// The animation part of gdk-pixbuf is not used. Before 2.42.8 it wrote beyond its memory (CVE-2021-46829); it finds a
/// picture by walking along all pictures before it; and it aborts if the total time in milliseconds is not positive as a
/// 32-bit number.
struct GIFCanvas {
    private let file: GIFFile
    private var pixels: [UInt8]
    private let rowBytes: Int

    private init(_ file: GIFFile) {
        self.file = file
        self.rowBytes = file.size.width * Bitmap.bytesPerPixel
        self.pixels = [UInt8](repeating: 0, count: file.size.height * self.rowBytes)
    }

    /// Returns the size of a GIF, and its pictures unless each has more pixels than `ceiling`.
    ///
    /// - Throws: `.undecodable` if any part is broken or missing; `.tooLarge` before memory is allocated.
    static func decode(
        _ bytes: [UInt8], pixelLimit: Int, inflatingUpTo ceiling: Int
    ) throws(ImageError) -> DecodedImage {
        let file = try GIFFile(bytes, pixelLimit: pixelLimit)
        let keepsPixels = !file.size.isOver(ceiling)
        var canvas = GIFCanvas(file)
        var frames: [ImagePixels.Frame] = []
        for (number, frame) in file.frames.enumerated() {
            let before = frame.disposal == .restore ? canvas.pixels : nil
            guard canvas.draw(frame) else { throw GIFFile.broken("picture \(number + 1) has no end, or no meaning") }
            if keepsPixels, let bitmap = Bitmap(size: file.size, pixels: canvas.pixels) {
                frames.append(ImagePixels.Frame(bitmap: bitmap, duration: .milliseconds(10 * frame.delay)))
            }
            switch frame.disposal {
            case .keep: break
            case .clear: canvas.clear(frame)
            case .restore: if let before { canvas.pixels = before }
            }
        }
        return DecodedImage(size: file.size, pixels: ImagePixels(frames: frames, loopCount: file.loopCount))
    }

    /// Draws a picture on the canvas.
    ///
    /// - Returns: false if the data of the picture are broken.
    private mutating func draw(_ frame: GIFFile.Frame) -> Bool {
        guard var values = LZWReader(self.file.bytes, at: frame.data, valueLength: frame.valueLength) else {
            return false
        }
        let colours = Self.colours(of: frame.palette)
        var rows = frame.isInterlaced ? Self.interlaced(frame.size.height) : Array(0..<frame.size.height)
        rows.reverse()
        var (column, row) = (0, rows.popLast() ?? 0)
        let (width, left, top, rowBytes) = (frame.size.width, frame.left, frame.top, self.rowBytes)
        let (transparent, size) = (frame.transparent, self.file.size)
        return self.pixels.withUnsafeMutableBytes { pixels in
            values.read(width * frame.size.height) { string in
                for value in string {
                    if value != transparent, left + column < size.width, top + row < size.height {
                        pixels.storeBytes(
                            of: colours[Int(value)],
                            toByteOffset: (top + row) * rowBytes + (left + column) * Bitmap.bytesPerPixel,
                            as: UInt32.self)
                    }
                    column += 1
                    if column == width { (column, row) = (0, rows.popLast() ?? 0) }
                }
            }
        }
    }

    /// Returns the pixel of each value, with its bytes in memory order. Values that have no colour are black.
    private static func colours(of palette: ArraySlice<UInt8>) -> [UInt32] {
        (0..<256).map { value in
            let colour = palette.dropFirst(3 * value).prefix(3)
            let pixel = colour.count == 3 ? Array(colour) : [0, 0, 0]
            return UInt32(
                littleEndian: UInt32(pixel[0]) | UInt32(pixel[1]) << 8 | UInt32(pixel[2]) << 16 | 0xFF << 24)
        }
    }

    /// Returns the rows in the order of an interlaced picture: every eighth, those between, and so on (GIF89a, appendix E).
    private static func interlaced(_ height: Int) -> [Int] {
        [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { start, step in Array(stride(from: start, to: height, by: step)) }
    }

    private mutating func clear(_ frame: GIFFile.Frame) {
        let columns = min(self.file.size.width, frame.left + frame.size.width) - frame.left
        guard columns > 0 else { return }
        for row in frame.top..<max(frame.top, min(self.file.size.height, frame.top + frame.size.height)) {
            let start = row * self.rowBytes + frame.left * Bitmap.bytesPerPixel
            for place in start..<start + columns * Bitmap.bytesPerPixel { self.pixels[place] = 0 }
        }
    }
}
