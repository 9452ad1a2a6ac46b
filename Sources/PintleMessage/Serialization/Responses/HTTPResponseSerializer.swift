// SPDX-License-Identifier: Apache-2.0

/// Gives the bytes of the body: as they came where the contract has no rule for them, and else as the rule sees them, without
/// content codings and, where it says so, without nulls.
public struct HTTPResponseSerializer: ResponseSerializer, Equatable {
    /// What a response must be like. Default status 200…299.
    public var contract: ResponseContract

    /// Makes a serializer.
    public init(contract: ResponseContract = ResponseContract()) { self.contract = contract }

    /// Holds the response to the contract.
    ///
    /// - Returns: no bytes where there can be none, and for JSON that is one space.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> [UInt8] {
        guard self.contract.body.readsBody else {
            _ = try self.contract.validate(head: head, body: body, requestMethod: requestMethod)
            return body
        }
        return try self.contract.read(body, of: head, requestMethod: requestMethod) { plain throws(BodyProblem) in
            try self.contract.body.check(plain).replacement ?? plain
        } ?? []
    }
}
