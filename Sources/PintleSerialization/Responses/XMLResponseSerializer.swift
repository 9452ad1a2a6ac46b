// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Returns the bytes of well-formed XML, for the program's own parser.
public struct XMLResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/xmlTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rules for documents. A document that defines entities is never accepted.
    public var scanner: XMLScanner

    /// Makes a serializer.
    public init(
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.xmlTypes,
        scanner: XMLScanner = XMLScanner()
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
        self.scanner = scanner
    }

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .xml(self.scanner))
    }

    /// Checks the response against the contract. An empty body violates it unless the response cannot have a body.
    ///
    /// - Returns: the document, without content codings; nil if the response cannot have a body.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> [UInt8]? {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { body throws(BodyProblem) in
            try self.scanner.checked(body)
            return body
        }
    }
}
