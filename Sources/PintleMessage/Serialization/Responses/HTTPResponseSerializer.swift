// SPDX-License-Identifier: Apache-2.0

/// Gives the body as it is, or without nulls where the contract says so.
public struct HTTPResponseSerializer: ResponseSerializer, Equatable {
    /// What a response must be like. Default status 200…299.
    public var contract: ResponseContract

    /// Makes a serializer.
    public init(contract: ResponseContract = ResponseContract()) { self.contract = contract }

    /// Holds the response to the contract.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> [UInt8] {
        try self.contract.validate(head: head, body: body, requestMethod: requestMethod) ?? body
    }
}
