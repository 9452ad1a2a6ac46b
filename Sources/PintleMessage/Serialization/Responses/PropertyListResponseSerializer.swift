// SPDX-License-Identifier: Apache-2.0

/// Reads property lists, in XML or binary.
public struct PropertyListResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/propertyListTypes``.
    public var acceptableContentTypes: Set<String>?

    /// Makes a serializer.
    public init(
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.propertyListTypes
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// What the properties say.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .propertyList)
    }

    /// Holds the response to the contract, which no empty body keeps where there can be one, and reads the document.
    ///
    /// - Returns: nil where there can be no body, as with status 204.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> PropertyListValue? {
        try self.contract.read(
            body, of: head, requestMethod: requestMethod, with: PropertyListReader.checked)
    }
}
