// SPDX-License-Identifier: Apache-2.0

/// Pixels in memory: red, green, blue and alpha, a byte each in this order, colours not multiplied with alpha; rows from top
/// to bottom without gaps.
public struct Bitmap: Sendable, Hashable {
    /// One pixel.
    public struct Pixel: Sendable, Hashable {
        /// From 0 to 255.
        public var red, green, blue: UInt8
        /// 0 for a pixel that is not seen, 255 for one behind which nothing is.
        public var alpha: UInt8

        /// Makes a pixel.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = .max) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
        }
    }

    /// The bytes of a pixel.
    public static let bytesPerPixel = 4

    /// Its size in pixels.
    public let size: ImageSize
    /// ``rowBytes`` for each row.
    public let pixels: [UInt8]

    /// Makes a bitmap.
    ///
    /// - Returns: nil unless there are four bytes for each pixel.
    public init?(size: ImageSize, pixels: [UInt8]) {
        let (count, isBeyond) = size.width.multipliedReportingOverflow(by: size.height)
        guard size.width >= 0, size.height >= 0, !isBeyond, pixels.count / Self.bytesPerPixel == count,
            pixels.count % Self.bytesPerPixel == 0
        else { return nil }
        self.size = size
        self.pixels = pixels
    }

    /// From the start of one row to the next.
    public var rowBytes: Int { self.size.width * Self.bytesPerPixel }

    /// The pixel of a column and a row, from 0; nil outside.
    public subscript(column: Int, row: Int) -> Pixel? {
        guard (0..<self.size.width).contains(column), (0..<self.size.height).contains(row) else { return nil }
        let place = row * self.rowBytes + column * Self.bytesPerPixel
        return Pixel(
            red: self.pixels[place], green: self.pixels[place + 1], blue: self.pixels[place + 2],
            alpha: self.pixels[place + 3])
    }
}

/// How a picture has to be turned to be upright, numbered as in Exif (CIPA DC-008 §4.6.5, Orientation). The names say where
/// the top of the picture is in the bitmap, after it was mirrored where that is said.
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// It is upright.
    case up = 1
    /// It is mirrored from left to right.
    case upMirrored = 2
    /// It is upside down.
    case down = 3
    /// It is mirrored from top to bottom.
    case downMirrored = 4
    /// Rows and columns are exchanged.
    case leftMirrored = 5
    /// It has to be turned to the right.
    case right = 6
    /// Rows and columns are exchanged, and it is upside down.
    case rightMirrored = 7
    /// It has to be turned to the left.
    case left = 8

    /// True where an upright picture is as wide as the bitmap is high.
    public var swapsSides: Bool { self.rawValue >= 5 }
}

extension Bitmap {
    /// The bitmap, turned so that a picture of `orientation` is upright.
    public func upright(from orientation: ImageOrientation) -> Bitmap {
        guard orientation != .up else { return self }
        let (width, height) = (self.size.width, self.size.height)
        let target =
            orientation.swapsSides ? ImageSize(width: height, height: width) : self.size
        var pixels: [UInt8] = []
        pixels.reserveCapacity(self.pixels.count)
        for row in 0..<target.height {
            for column in 0..<target.width {
                let (x, y): (Int, Int) =
                    switch orientation {
                    case .up: (column, row)
                    case .upMirrored: (width - 1 - column, row)
                    case .down: (width - 1 - column, height - 1 - row)
                    case .downMirrored: (column, height - 1 - row)
                    case .leftMirrored: (row, column)
                    case .right: (row, height - 1 - column)
                    case .rightMirrored: (width - 1 - row, height - 1 - column)
                    case .left: (width - 1 - row, column)
                    }
                let place = y * self.rowBytes + x * Self.bytesPerPixel
                pixels.append(contentsOf: self.pixels[place..<place + Self.bytesPerPixel])
            }
        }
        return Bitmap(size: target, pixels: pixels) ?? self
    }
}
