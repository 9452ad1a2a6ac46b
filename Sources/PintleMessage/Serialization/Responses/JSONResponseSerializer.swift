// SPDX-License-Identifier: Apache-2.0

/// Reads JSON.
public struct JSONResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/jsonTypes``.
    public var acceptableContentTypes: Set<String>?
    /// What is accepted as a document, and whether nulls are taken out of it.
    public var rule: ResponseContract.JSONRule

    /// Makes a serializer.
    public init(
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.jsonTypes,
        rule: ResponseContract.JSONRule = .init()
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
        self.rule = rule
    }

    /// What the properties say.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .json(self.rule))
    }

    /// Holds the response to the contract and reads the document.
    ///
    /// - Returns: nil where there can be no body, as with status 204, and for a body that is empty or one space.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Parameter? {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { body throws(BodyProblem) in
            try self.rule.read(body).value
        }
    }
}
