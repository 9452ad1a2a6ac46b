// SPDX-License-Identifier: Apache-2.0

/// An image in memory: one bitmap, or those of an animation.
public struct ImagePixels: Sendable, Hashable {
    /// A picture of an animation, or the only one.
    public struct Frame: Sendable, Hashable {
        /// All of the picture as it is then, however little of it the file has changed.
        public let bitmap: Bitmap
        /// How long it is shown, as the file has it; zero where that says nothing, and for the only picture.
        public let duration: Duration

        /// Makes a frame.
        public init(bitmap: Bitmap, duration: Duration = .zero) {
            self.bitmap = bitmap
            self.duration = duration
        }
    }

    /// The pictures in their order, all of one size.
    public let frames: [Frame]
    /// How often an animation is played; nil for without end, 1 where the file says nothing.
    public let loopCount: Int?
    /// How the pictures have to be turned to be upright.
    public let orientation: ImageOrientation
    /// The first picture.
    public let bitmap: Bitmap

    /// Makes an image.
    ///
    /// - Returns: nil without frames.
    public init?(frames: [Frame], loopCount: Int? = 1, orientation: ImageOrientation = .up) {
        guard let first = frames.first else { return nil }
        self.frames = frames
        self.loopCount = loopCount
        self.orientation = orientation
        self.bitmap = first.bitmap
    }

    /// True where there are several pictures.
    public var isAnimated: Bool { self.frames.count > 1 }
}

/// The pictures that a decoder makes of bytes.
public struct DecodedImage: Sendable, Hashable {
    /// The size in pixels.
    public let size: ImageSize
    /// The pixels; nil where they were not wanted.
    public let pixels: ImagePixels?

    /// Makes a result.
    public init(size: ImageSize, pixels: ImagePixels?) {
        self.size = size
        self.pixels = pixels
    }
}

/// Something that can make bitmaps of images. The one that Pintle has is `ImageDecoder`, of PintleImage.
public protocol ImageDecoding: ImageChecking {
    /// Decodes an image, and all frames of an animation.
    ///
    /// - Parameter ceiling: an image with more pixels, width times height, is decoded as well, but its pixels are let go.
    /// - Throws: why the bytes are no image that is accepted.
    func decode(_ bytes: [UInt8], inflatingUpTo ceiling: Int) throws(ImageError) -> DecodedImage
}

extension ImageDecoding {
    /// Decodes an image, and all frames of an animation.
    ///
    /// - Throws: why the bytes are no image that is accepted.
    public func pixels(of bytes: [UInt8]) throws(ImageError) -> ImagePixels {
        guard let pixels = try self.decode(bytes, inflatingUpTo: .max).pixels else {
            throw ImageError(.undecodable, "the decoder has made no pixels of the image")
        }
        return pixels
    }
}
