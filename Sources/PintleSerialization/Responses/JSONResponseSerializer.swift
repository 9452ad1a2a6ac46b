// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Reads JSON into a ``Parameter``.
public struct JSONResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/jsonTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rule for documents, which may also remove nulls.
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

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .json(self.rule))
    }

    /// Checks the response against the contract, and reads the document.
    ///
    /// - Returns: nil if the response cannot have a body, as with status 204, and for a body that is empty or a single
    ///   space.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Parameter? {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { body throws(BodyProblem) in
            try self.rule.read(body).value
        }
    }
}
