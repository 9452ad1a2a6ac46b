// SPDX-License-Identifier: Apache-2.0

/// Pixels in memory: red, green, blue and alpha, one byte each in this order, not premultiplied with alpha; rows from top
/// to bottom without gaps.
public struct Bitmap: Sendable, Hashable {
    /// One pixel.
    public struct Pixel: Sendable, Hashable {
        /// From 0 to 255.
        public var red, green, blue: UInt8
        /// 0 for an invisible pixel, 255 for an opaque one.
        public var alpha: UInt8

        /// Makes a pixel.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = .max) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
        }
    }

    /// The number of bytes of a pixel.
    public static let bytesPerPixel = 4

    /// The size in pixels.
    public let size: ImageSize
    /// The bytes of all rows, ``rowBytes`` for each.
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

    /// The number of bytes from the start of one row to that of the next.
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

/// The turn that makes a picture upright, numbered as in Exif (CIPA DC-008 §4.6.5, Orientation). A name says which side of
/// the upright picture is in the first row of the bitmap, and if the bitmap is mirrored.
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// The bitmap is upright.
    case up = 1
    /// The bitmap is mirrored from left to right.
    case upMirrored = 2
    /// The bitmap is upside down.
    case down = 3
    /// The bitmap is mirrored from top to bottom.
    case downMirrored = 4
    /// Rows and columns of the bitmap are exchanged.
    case leftMirrored = 5
    /// The bitmap has to be turned to the right.
    case right = 6
    /// Rows and columns of the bitmap are exchanged, and it is upside down.
    case rightMirrored = 7
    /// The bitmap has to be turned to the left.
    case left = 8

    /// True if the upright picture is as wide as the bitmap is high.
    public var swapsSides: Bool { self.rawValue >= 5 }
}

extension Bitmap {
    /// Returns the upright bitmap of a picture with this `orientation`.
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
