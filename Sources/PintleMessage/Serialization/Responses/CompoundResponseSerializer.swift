// SPDX-License-Identifier: Apache-2.0

/// Tries serializers in order: the first one that takes the response wins.
///
/// Serializers of different outputs are brought to one with ``ResponseSerializer/map(_:)``.
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    /// What became of a response.
    public enum Decoded: Sendable {
        /// What a member made of it.
        case value(Value)
        /// The body as it is: no member took the response, but it keeps the contract.
        case bytes([UInt8])
    }

    /// The members, in the order in which they are tried.
    public let members: [any ResponseSerializer<Value>]
    /// What a response that no member takes must be like. Default status 200…299.
    public var contract: ResponseContract

    /// Makes a serializer.
    public init(_ members: [any ResponseSerializer<Value>], contract: ResponseContract = ResponseContract()) {
        self.members = members
        self.contract = contract
    }

    /// Decodes with the first member that throws nothing, and else holds the response to ``contract``.
    ///
    /// - Throws: the violation of ``contract``; those of the members are no errors, they only pass the response on.
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
