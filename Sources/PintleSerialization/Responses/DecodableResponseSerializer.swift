// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleMessage

/// Decodes JSON into a type of the program.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// Makes the decoder for one response; by default, one with Foundation's settings. Decoders have mutable settings, so
    /// each response gets a new one.
    public typealias DecoderMaker = @Sendable () -> JSONDecoder

    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/jsonTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rule for documents. If it removes nulls, the decoder does not see them.
    public var rule: ResponseContract.JSONRule
    private let makeDecoder: DecoderMaker

    /// Makes a serializer.
    public init(
        _ type: Value.Type = Value.self, acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.jsonTypes, rule: ResponseContract.JSONRule = .init(),
        decoder: @escaping DecoderMaker = { JSONDecoder() }
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
        self.rule = rule
        self.makeDecoder = decoder
    }

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .json(self.rule))
    }

    /// Checks the response against the contract, and decodes the document.
    ///
    /// - Returns: the value. If the type is optional, nil for a response that cannot have a body, such as status 204, and
    ///   for a body that is empty or a single space.
    /// - Throws: the violation; also if there is no document and the type is not optional.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> Value {
        let value = try self.decodedDocument(head, body, requestMethod) ?? Self.absent
        guard let value else {
            throw ResponseContract.error(
                .responseBody, "Request failed: there is no JSON in the response (\(head.status))", head)
        }
        return value
    }

    /// The value for a missing document: nil of an optional type.
    private static var absent: Value? { (Value.self as? any OptionalValue.Type)?.absent as? Value }

    private func decodedDocument(
        _ head: ResponseHead, _ body: [UInt8], _ requestMethod: String
    ) throws(ValidationError) -> Value? {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { body throws(BodyProblem) in
            let document = try self.rule.check(body) ?? body
            do {
                return try self.makeDecoder().decode(Value.self, from: Data(document))
            } catch {
                throw BodyProblem("the JSON is not what is expected: \(Self.words(for: error))")
            }
        }
    }

    /// Returns, for example, `orders[2].id: there is no “price”`, as far as the decoder names path and problem.
    static func words(for error: any Error) -> String {
        let (context, problem): (DecodingError.Context, String)
        switch error as? DecodingError {
        case .typeMismatch(let type, let found):
            (context, problem) = (found, "this is no \(type)")
        case .valueNotFound(let type, let found):
            (context, problem) = (found, "this is null, and not a \(type)")
        // The text comes from the decoded type if it is one of the program's.
        case .dataCorrupted(let found):
            (context, problem) = (found, found.debugDescription)
        case .keyNotFound(let key, let found):
            (context, problem) = (found, "there is no “\(key.stringValue)”")
        case nil: return "\(error)"
        @unknown default: return "\(error)"
        }
        let path = context.codingPath.reduce(into: "") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? key.stringValue : ".\(key.stringValue)")
        }
        return path.isEmpty ? problem : "\(path): \(problem)"
    }
}

private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var absent: Self { nil }
}
