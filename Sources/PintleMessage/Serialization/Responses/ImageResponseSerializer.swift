// SPDX-License-Identifier: Apache-2.0

/// Gives images that can be decoded: bytes and size, and pixels where they are wanted.
public struct ImageResponseSerializer: ResponseSerializer, Equatable {
    /// An image that has been decoded once.
    public struct Image: Sendable, Equatable {
        /// The image, without content codings.
        public let bytes: [UInt8]
        /// Its size in pixels.
        public let size: ImageSize
        /// The pixels of a point, in either direction.
        public let scale: Double
        /// The pixels; nil where the serializer does not inflate, or not so large an image.
        public let pixels: ImagePixels?
        fileprivate let decoder: (any ImageDecoding)?

        /// The width in points.
        public var width: Double { Double(self.size.width) / self.scale }
        /// The height in points.
        public var height: Double { Double(self.size.height) / self.scale }

        /// ``pixels``, or else what decoding again gives.
        ///
        /// - Throws: `.unavailable` where the serializer has something that can only check images.
        public func inflated() throws(ImageError) -> ImagePixels {
            if let pixels { return pixels }
            guard let decoder else {
                throw ImageError(.unavailable, "the serializer checks images and has no decoder that makes bitmaps")
            }
            return try decoder.pixels(of: self.bytes)
        }

        /// True where bytes and scale are the same, and so all that is made of them.
        public static func == (left: Image, right: Image) -> Bool {
            left.bytes == right.bytes && left.size == right.size && left.scale == right.scale
        }
    }

    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/imageTypes``.
    public var acceptableContentTypes: Set<String>?
    /// What decodes images.
    public var rule: ResponseContract.ImageRule
    /// The pixels of a point, for ``Image/width`` and ``Image/height``: 2 for images that are made for screens with twice
    /// as many pixels. Default 1.
    public var scale: Double
    /// Whether ``Image/pixels`` are there when the response has been decoded. It needs a ``rule`` that can make bitmaps.
    public var inflates: Bool
    /// The most pixels, width times height, of an image that is inflated; a larger one waits for ``Image/inflated()``.
    /// The frames of an animation are inflated whatever their number, up to what the decoder accepts. Default 1 Mi, which
    /// is 1024 × 1024.
    public var inflationLimit: Int

    /// Makes a serializer that gives bytes and size.
    public init(
        checker: some ImageChecking, acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.imageTypes
    ) {
        self.rule = ResponseContract.ImageRule(checker)
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
        self.scale = 1
        self.inflates = false
        self.inflationLimit = 1024 * 1024
    }

    /// Makes a serializer that gives bitmaps.
    public init(
        decoder: some ImageDecoding, scale: Double = 1, inflates: Bool = true, inflationLimit: Int = 1024 * 1024,
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.imageTypes
    ) {
        self.init(
            checker: decoder, acceptableStatusCodes: acceptableStatusCodes,
            acceptableContentTypes: acceptableContentTypes)
        self.scale = scale
        self.inflates = inflates
        self.inflationLimit = inflationLimit
    }

    /// What the properties say.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .image(self.rule))
    }

    /// Holds the response to the contract, which no empty body keeps where there can be one.
    ///
    /// - Returns: nil where there can be no body.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Image? {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { body throws(BodyProblem) in
            let decoder = self.rule.checker as? any ImageDecoding
            guard self.inflates, let decoder else {
                let size = try self.rule.checker.checked(body)
                return Image(bytes: body, size: size, scale: self.scale, pixels: nil, decoder: decoder)
            }
            do throws(ImageError) {
                let decoded = try decoder.decode(body, inflatingUpTo: self.inflationLimit)
                return Image(
                    bytes: body, size: decoded.size, scale: self.scale, pixels: decoded.pixels, decoder: decoder)
            } catch {
                throw BodyProblem("invalid image: \(error)")
            }
        }
    }
}
