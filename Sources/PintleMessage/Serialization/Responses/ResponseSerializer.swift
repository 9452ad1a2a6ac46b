// SPDX-License-Identifier: Apache-2.0

/// Holds a response to a contract and makes a value of its body.
public protocol ResponseSerializer<Output>: Sendable {
    /// What bodies become.
    associatedtype Output: Sendable

    /// What a response must be like. Its media types are those that the serializer takes.
    var contract: ResponseContract { get }

    /// Holds the response to ``contract``, and then decodes its body. Serializers that read bodies undo content codings
    /// first (gzip, deflate, br, zstd), up to ``ResponseContract/decodedLimit``; no session asks for them by itself.
    ///
    /// - Parameter requestMethod: of the request that was answered: a response to HEAD has no body to decode.
    /// - Throws: the violation, with the one found earlier behind it. After a wrong media type the body is not looked at;
    ///   after a wrong status it is, and what is wrong with it comes first. There is no value beside an error.
    func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Output
}

extension ResponseSerializer {
    /// The serializer whose value is what `transform` makes of this one's.
    public func map<Value: Sendable>(
        _ transform: @escaping @Sendable (Output) -> Value
    ) -> some ResponseSerializer<Value> {
        MappedResponseSerializer(base: self, transform: transform)
    }

    /// The serializer for which a response without a value, such as status 204, is a violation.
    ///
    ///     let pictures = ImageResponseSerializer(decoder: decoder).required()
    public func required<Value: Sendable>() -> some ResponseSerializer<Value> where Output == Value? {
        RequiringResponseSerializer<Self, Value>(base: self)
    }
}

private struct MappedResponseSerializer<Base: ResponseSerializer, Value: Sendable>: ResponseSerializer {
    let base: Base
    let transform: @Sendable (Base.Output) -> Value

    var contract: ResponseContract { self.base.contract }

    func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Value {
        self.transform(try self.base.decode(head, body: body, requestMethod: requestMethod))
    }
}

private struct RequiringResponseSerializer<Base: ResponseSerializer, Value: Sendable>: ResponseSerializer
where Base.Output == Value? {
    let base: Base

    var contract: ResponseContract { self.base.contract }

    func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Value {
        guard let value = try self.base.decode(head, body: body, requestMethod: requestMethod) else {
            let problem = BodyProblem("there is nothing in the response (\(head.status))")
            throw ResponseContract.error(problem, head, underlying: nil)
        }
        return value
    }
}
