// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Decodes PNG, JPEG, GIF, TIFF, BMP and Windows icons with gdk-pixbuf; X bitmaps, and the frames of GIFs, by itself.
public struct ImageDecoder: MeteredImageChecking, ImageDecoding {
    /// The most pixels of an image, width times height, and of all frames of an animation together. An image is decoded to
    /// four bytes a pixel at most, and its bitmap takes as much again.
    public let pixelLimit: Int
    private let library: PixbufLibrary

    /// Makes a decoder, and loads the library for the first one.
    ///
    /// - Parameter pixelLimit: default 64 Mi, which is 8192 × 8192.
    /// - Throws: `.unavailable` where gdk-pixbuf is not installed.
    public init(pixelLimit: Int = 64 * 1024 * 1024) throws(ImageError) {
        self.pixelLimit = pixelLimit
        self.library = try PixbufLibrary.system.get()
    }

    /// Decodes an image, or the first picture of several.
    ///
    /// - Throws: `.undecodable` for what is no image of these formats, is broken or cut off; `.tooLarge` as soon as the
    ///   size is known, before memory is taken for it.
    public func check(_ bytes: [UInt8]) throws(ImageError) -> ImageSize { try self.check(bytes, within: .unlimited) }

    /// Decodes as far as `budget` lets it. After an interruption neither result nor error means anything.
    package func check(_ bytes: [UInt8], within budget: WorkBudget) throws(ImageError) -> ImageSize {
        guard let format = try Self.format(of: bytes) else {
            return try XBitmap.size(of: bytes, pixelLimit: self.pixelLimit)
        }
        try self.judge(bytes, of: format, within: budget)
        // The picture is a PNG or an icon without one, so this goes no deeper.
        if format == .ico, let picture = IconDirectory(bytes).firstPicture {
            return try self.check(picture, within: budget)
        }
        let loading = ImageLoading(self.library, format, pixelLimit: self.pixelLimit, within: budget)
        return try loading.size(of: bytes)
    }

    /// - Returns: nil for an X bitmap.
    private static func format(of bytes: [UInt8]) throws(ImageError) -> ImageFormat? {
        if let format = ImageFormat(of: bytes) { return format }
        guard XBitmap.begins(bytes) else {
            throw ImageError(.undecodable, "the bytes are no PNG, JPEG, GIF, TIFF, BMP, icon or X bitmap")
        }
        return nil
    }

    /// Holds bytes to what is asked of them before gdk-pixbuf sees them.
    private func judge(
        _ bytes: [UInt8], of format: ImageFormat, within budget: WorkBudget
    ) throws(ImageError) {
        guard format.isWhole(bytes) else { throw ImageError(.undecodable, "the \(format) image is cut off") }
        try format.checkCost(of: bytes, pixelLimit: self.pixelLimit, within: budget)
    }

    /// Decodes an image to bitmaps: the first picture of several, or all frames of a GIF.
    ///
    /// The pixels are copied, and what gdk-pixbuf had is freed, before this returns.
    ///
    /// - Parameter ceiling: an image with more pixels is decoded as well, but its pixels are let go.
    /// - Throws: as ``check(_:)`` does. Frames that do not unpack, or lie outside of their GIF, make it undecodable;
    ///   a frame counts as 256 pixels at least.
    public func decode(_ bytes: [UInt8], inflatingUpTo ceiling: Int) throws(ImageError) -> DecodedImage {
        guard let format = try Self.format(of: bytes) else {
            return try XBitmap.decode(bytes, pixelLimit: self.pixelLimit, inflatingUpTo: ceiling)
        }
        if format == .gif {
            return try GIFCanvas.decode(bytes, pixelLimit: self.pixelLimit, inflatingUpTo: ceiling)
        }
        try self.judge(bytes, of: format, within: .unlimited)
        if format == .ico, let picture = IconDirectory(bytes).firstPicture {
            return try self.decode(picture, inflatingUpTo: ceiling)
        }
        let loading = ImageLoading(self.library, format, pixelLimit: self.pixelLimit, within: .unlimited)
        return try loading.decode(bytes, inflatingUpTo: ceiling)
    }

    /// Two decoders are equal when they have the same limit; there is one library.
    public static func == (left: ImageDecoder, right: ImageDecoder) -> Bool { left.pixelLimit == right.pixelLimit }
}
