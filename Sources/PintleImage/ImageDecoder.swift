// SPDX-License-Identifier: Apache-2.0

public import PintleSerialization

/// Decodes PNG, JPEG, GIF, TIFF, BMP and Windows icons with gdk-pixbuf; X bitmaps and the frames of GIFs without it.
public struct ImageDecoder: MeteredImageChecking, ImageDecoding {
    /// The maximum number of pixels of an image, width times height, and of all frames of an animation together. Decoding
    /// takes at most four bytes per pixel, and the bitmap as much again.
    public let pixelLimit: Int
    private let library: PixbufLibrary

    /// Creates a decoder; the first one loads the library.
    ///
    /// - Parameter pixelLimit: default 64 Mi, which is 8192 × 8192.
    /// - Throws: `.unavailable` if gdk-pixbuf is not installed.
    public init(pixelLimit: Int = 64 * 1024 * 1024) throws(ImageError) {
        self.pixelLimit = pixelLimit
        self.library = try PixbufLibrary.system.get()
    }

    /// Decodes an image, or the first picture if there are several.
    ///
    /// - Throws: `.undecodable` if the bytes have none of these formats, or are broken or cut off; `.tooLarge` as soon as
    ///   the size is known, before memory is allocated for it.
    public func check(_ bytes: [UInt8]) throws(ImageError) -> ImageSize { try self.check(bytes, within: .unlimited) }

    /// Decodes as far as `budget` permits. After an interruption, both the result and the error are meaningless.
    package func check(_ bytes: [UInt8], within budget: WorkBudget) throws(ImageError) -> ImageSize {
        guard let format = try Self.format(of: bytes) else {
            return try XBitmap.size(of: bytes, pixelLimit: self.pixelLimit)
        }
        try self.judge(bytes, of: format, within: budget)
        // The picture is a PNG, or an icon without PNGs, so there is no deeper recursion.
        if format == .ico, let picture = IconDirectory(bytes).firstPicture {
            return try self.check(picture, within: budget)
        }
        let loading = ImageLoading(self.library, format, pixelLimit: self.pixelLimit, within: budget)
        return try loading.size(of: bytes)
    }

    /// Returns the format of the bytes; nil for an X bitmap.
    private static func format(of bytes: [UInt8]) throws(ImageError) -> ImageFormat? {
        if let format = ImageFormat(of: bytes) { return format }
        guard XBitmap.begins(bytes) else {
            throw ImageError(.undecodable, "the bytes are no PNG, JPEG, GIF, TIFF, BMP, icon or X bitmap")
        }
        return nil
    }

    /// Checks that the bytes are complete and not too costly to decode, before gdk-pixbuf receives them.
    private func judge(
        _ bytes: [UInt8], of format: ImageFormat, within budget: WorkBudget
    ) throws(ImageError) {
        guard format.isWhole(bytes) else { throw ImageError(.undecodable, "the \(format) image is cut off") }
        try format.checkCost(of: bytes, pixelLimit: self.pixelLimit, within: budget)
    }

    /// Decodes an image to bitmaps: the first picture if there are several, but all frames of a GIF.
    ///
    /// The pixels are copied, and gdk-pixbuf's memory is freed, before this returns.
    ///
    /// - Parameter ceiling: the maximum number of pixels to return. A larger image is decoded too, but its pixels are
    ///   dropped.
    /// - Throws: the errors of ``check(_:)``. A GIF is undecodable if one of its frames cannot be unpacked; a frame counts
    ///   as at least 256 pixels.
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

    /// True if both decoders have the same limit; they share the library.
    public static func == (left: ImageDecoder, right: ImageDecoder) -> Bool { left.pixelLimit == right.pixelLimit }
}
