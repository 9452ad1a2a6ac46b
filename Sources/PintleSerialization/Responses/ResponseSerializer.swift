// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Checks a response against a contract, and makes a value from its body.
public protocol ResponseSerializer<Output>: Sendable {
    /// The type of the values.
    associatedtype Output: Sendable

    /// The contract for responses. Its media types are those that the serializer accepts.
    var contract: ResponseContract { get }

    /// Checks the response against ``contract``, and then decodes its body. Serializers that read bodies undo content
    /// codings first (gzip, deflate, br, zstd), up to ``ResponseContract/decodedLimit``; sessions do not request them on
    /// their own.
    ///
    /// - Parameter requestMethod: the method of the request: a response to HEAD has no body to decode.
    /// - Throws: the violation; one of the head becomes its underlying error. After a wrong media type the body is not
    ///   checked; after a wrong status it is, and a violation of the body comes first. A response with an error has no
    ///   value.
    func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Output
}

extension ResponseSerializer {
    /// Returns a serializer that applies `transform` to the value of this one.
    public func map<Value: Sendable>(
        _ transform: @escaping @Sendable (Output) -> Value
    ) -> some ResponseSerializer<Value> {
        MappedResponseSerializer(base: self, transform: transform)
    }

    /// Returns a serializer for which a response without a value, such as status 204, is a violation.
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
