// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Decodes PNG, JPEG, GIF, TIFF, BMP and Windows icons with gdk-pixbuf, and X bitmaps by itself.
public struct ImageDecoder: MeteredImageChecking {
    /// The most pixels of an image, width times height. An image is decoded to four bytes a pixel at most.
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
        guard let format = ImageFormat(of: bytes) else {
            guard XBitmap.begins(bytes) else {
                throw ImageError(.undecodable, "the bytes are no PNG, JPEG, GIF, TIFF, BMP, icon or X bitmap")
            }
            return try XBitmap.size(of: bytes, pixelLimit: self.pixelLimit)
        }
        guard format.isWhole(bytes) else { throw ImageError(.undecodable, "the \(format) image is cut off") }
        try format.checkCost(of: bytes, pixelLimit: self.pixelLimit)
        // The picture is a PNG or an icon without one, so this goes no deeper.
        if format == .ico, let picture = IconDirectory(bytes).firstPicture {
            return try self.check(picture, within: budget)
        }
        let loading = ImageLoading(self.library, format, pixelLimit: self.pixelLimit, within: budget)
        return try loading.size(of: bytes)
    }

    /// Two decoders are equal when they have the same limit; there is one library.
    public static func == (left: ImageDecoder, right: ImageDecoder) -> Bool { left.pixelLimit == right.pixelLimit }
}
