// SPDX-License-Identifier: Apache-2.0

/// Gives the bytes of images that can be decoded, with their size.
public struct ImageResponseSerializer: ResponseSerializer, Equatable {
    /// An image that has been decoded once.
    public struct Image: Sendable, Equatable {
        /// The image, without content codings.
        public let bytes: [UInt8]
        /// Its size.
        public let size: ImageSize
    }

    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/imageTypes``.
    public var acceptableContentTypes: Set<String>?
    /// What decodes images.
    public var rule: ResponseContract.ImageRule

    /// Makes a serializer.
    public init(
        checker: some ImageChecking, acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.imageTypes
    ) {
        self.rule = ResponseContract.ImageRule(checker)
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
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
            Image(bytes: body, size: try self.rule.checker.checked(body))
        }
    }
}
