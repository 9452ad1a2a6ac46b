// SPDX-License-Identifier: Apache-2.0

/// Gives the body as text, in the encoding that Content-Type names.
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

    /// The contract that the properties make.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes)
    }

    /// Holds the response to the contract and decodes the body.
    ///
    /// - Returns: the text. Without a charset parameter, or with one that nobody knows, it is UTF-8, in which what is
    ///   no text becomes the replacement character.
    /// - Throws: the violation; a body that is not text in the charset that it claims is one.
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
