// SPDX-License-Identifier: Apache-2.0

/// An image in memory: one bitmap, or the frames of an animation.
public struct ImagePixels: Sendable, Hashable {
    /// A frame of an animation, or the only picture.
    public struct Frame: Sendable, Hashable {
        /// The whole picture at this frame, even if the file changes only a part of it.
        public let bitmap: Bitmap
        /// The time for which the frame is shown; zero if the file names none, and for the only picture.
        public let duration: Duration

        /// Makes a frame.
        public init(bitmap: Bitmap, duration: Duration = .zero) {
            self.bitmap = bitmap
            self.duration = duration
        }
    }

    /// The frames in order, all of one size.
    public let frames: [Frame]
    /// The number of times that an animation is played; nil for endless, 1 if the file names none.
    public let loopCount: Int?
    /// The turn that makes the pictures upright.
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

    /// True if there are several frames.
    public var isAnimated: Bool { self.frames.count > 1 }
}

/// The result of decoding an image.
public struct DecodedImage: Sendable, Hashable {
    /// The size in pixels.
    public let size: ImageSize
    /// The pixels; nil if the caller did not want them.
    public let pixels: ImagePixels?

    /// Makes a result.
    public init(size: ImageSize, pixels: ImagePixels?) {
        self.size = size
        self.pixels = pixels
    }
}

/// A decoder from images to bitmaps. Pintle's own one is `ImageDecoder` in PintleImage.
public protocol ImageDecoding: ImageChecking {
    /// Decodes an image, and all frames of an animation.
    ///
    /// - Parameter ceiling: the maximum number of pixels, width times height. A larger image is decoded, too, but its
    ///   pixels are discarded.
    /// - Throws: ``ImageError`` with the reason why the image is not accepted.
    func decode(_ bytes: [UInt8], inflatingUpTo ceiling: Int) throws(ImageError) -> DecodedImage
}

extension ImageDecoding {
    /// Decodes an image, and all frames of an animation.
    ///
    /// - Throws: ``ImageError`` with the reason why the image is not accepted.
    public func pixels(of bytes: [UInt8]) throws(ImageError) -> ImagePixels {
        guard let pixels = try self.decode(bytes, inflatingUpTo: .max).pixels else {
            throw ImageError(.undecodable, "the decoder has made no pixels of the image")
        }
        return pixels
    }
}
