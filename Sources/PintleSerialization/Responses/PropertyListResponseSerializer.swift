// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

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

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .propertyList)
    }

    /// Checks the response against the contract, and reads the document. An empty body is a violation unless the response
    /// cannot have a body.
    ///
    /// - Returns: nil if the response cannot have a body, as with status 204.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> PropertyListValue? {
        try self.contract.read(
            body, of: head, requestMethod: requestMethod, with: PropertyListReader.checked)
    }
}
