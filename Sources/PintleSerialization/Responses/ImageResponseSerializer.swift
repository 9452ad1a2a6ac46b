// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Returns decodable images: bytes and size, and pixels on request.
public struct ImageResponseSerializer: ResponseSerializer, Equatable {
    /// An image that was decoded successfully.
    public struct Image: Sendable, Equatable {
        /// The encoded image, after content codings of the body are undone.
        public let bytes: [UInt8]
        /// Its size in pixels.
        public let size: ImageSize
        /// The number of pixels for each point, in either direction.
        public let scale: Double
        /// The pixels; nil if the serializer does not inflate images, or the image is larger than ``inflationLimit``.
        public let pixels: ImagePixels?
        fileprivate let decoder: (any ImageDecoding)?

        /// The width in points.
        public var width: Double { Double(self.size.width) / self.scale }
        /// The height in points.
        public var height: Double { Double(self.size.height) / self.scale }

        /// Returns ``pixels``, or decodes the image again if they are nil.
        ///
        /// - Throws: the error of the decoder; `.unavailable` if the serializer's checker cannot make bitmaps.
        public func inflated() throws(ImageError) -> ImagePixels {
            if let pixels { return pixels }
            guard let decoder else {
                throw ImageError(.unavailable, "the serializer checks images and has no decoder that makes bitmaps")
            }
            return try decoder.pixels(of: self.bytes)
        }

        /// True if bytes, size and scale are equal; the pixels follow from these.
        public static func == (left: Image, right: Image) -> Bool {
            left.bytes == right.bytes && left.size == right.size && left.scale == right.scale
        }
    }

    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/imageTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rule with the decoder of images.
    public var rule: ResponseContract.ImageRule
    /// The number of pixels for each point, for ``Image/width`` and ``Image/height``: 2 for images for screens with twice
    /// as many pixels. Default 1.
    public var scale: Double
    /// True if decoding a response also fills ``Image/pixels``. This needs a ``rule`` whose checker can make bitmaps.
    public var inflates: Bool
    /// The maximum number of pixels, width times height, of an image that is inflated at once; larger ones need
    /// ``Image/inflated()``. All frames of an animation are inflated, up to the limits of the decoder. Default 1 Mi, which
    /// is 1024 × 1024.
    public var inflationLimit: Int

    /// Makes a serializer that returns bytes and size.
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

    /// Makes a serializer that returns bitmaps.
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

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .image(self.rule))
    }

    /// Checks the response against the contract. An empty body violates it unless the response cannot have a body.
    ///
    /// - Returns: nil if the response cannot have a body.
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
