// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Returns the bytes of the body: unchanged if the contract has no rule for the body; otherwise without content codings
/// and, if the rule says so, without nulls.
public struct HTTPResponseSerializer: ResponseSerializer, Equatable {
    /// The contract for responses. Default status 200…299.
    public var contract: ResponseContract

    /// Makes a serializer.
    public init(contract: ResponseContract = ResponseContract()) { self.contract = contract }

    /// Checks the response against the contract.
    ///
    /// - Returns: the body; empty if the response cannot have one, and for JSON that is a single space.
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
