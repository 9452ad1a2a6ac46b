// SPDX-License-Identifier: Apache-2.0

/// Reads JSON.
public struct JSONResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var statuses: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/jsonTypes``.
    public var contentTypes: Set<String>?
    /// What is accepted as a document, and whether nulls are taken out of it.
    public var rule: ResponseContract.JSONRule

    /// Makes a serializer.
    public init(
        statuses: [ClosedRange<UInt16>]? = [200...299], contentTypes: Set<String>? = ResponseContract.jsonTypes,
        rule: ResponseContract.JSONRule = .init()
    ) {
        self.statuses = statuses
        self.contentTypes = contentTypes
        self.rule = rule
    }

    /// What the properties say.
    public var contract: ResponseContract {
        ResponseContract(statuses: self.statuses, contentTypes: self.contentTypes, body: .json(self.rule))
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
