// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Tries serializers in order; the first one that accepts the response decodes it.
///
/// Serializers with different outputs can be brought to a common one with ``ResponseSerializer/map(_:)``.
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    /// The result of decoding a response.
    public enum Decoded: Sendable {
        /// The value from a member.
        case value(Value)
        /// The unchanged body: no member accepts the response, but it meets the contract.
        case bytes([UInt8])
    }

    /// The members, in the order in which they are tried.
    public let members: [any ResponseSerializer<Value>]
    /// The contract for responses that no member accepts. Default status 200…299.
    public var contract: ResponseContract

    /// Makes a serializer.
    public init(_ members: [any ResponseSerializer<Value>], contract: ResponseContract = ResponseContract()) {
        self.members = members
        self.contract = contract
    }

    /// Decodes with the first member that throws no error; otherwise checks the response against ``contract``.
    ///
    /// - Throws: the violation of ``contract``. Errors of members only lead to the next member.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Decoded {
        for member in self.members {
            if let value = try? member.decode(head, body: body, requestMethod: requestMethod) { return .value(value) }
        }
        let bytes = HTTPResponseSerializer(contract: self.contract)
        return .bytes(try bytes.decode(head, body: body, requestMethod: requestMethod))
    }
}

extension CompoundResponseSerializer.Decoded: Equatable where Value: Equatable {}
