// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Returns the body as text, in the encoding that Content-Type names.
public struct TextResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default nil.
    public var acceptableContentTypes: Set<String>?

    /// Makes a serializer.
    public init(
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299], acceptableContentTypes: Set<String>? = nil
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes)
    }

    /// Checks the response against the contract, and decodes the body.
    ///
    /// - Returns: the text. Without a charset parameter, or with an unknown one, it is read as UTF-8, and invalid bytes
    ///   become the replacement character.
    /// - Throws: the violation; a body that is not text in its declared charset is one, too.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> String {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { plain throws(BodyProblem) in
            guard let name = head.fields[.contentType].flatMap(MediaType.charset),
                let encoding = try? TextEncoding(name)
            else { return String(decoding: plain, as: UTF8.self) }
            guard let text = encoding.decode(plain) else { throw BodyProblem("the body is no text in \(encoding)") }
            return text
        } ?? ""
    }
}
