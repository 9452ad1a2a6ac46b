// SPDX-License-Identifier: Apache-2.0

/// Gives a reader of XML, which is asked for one part of the document after another.
public struct XMLReaderResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/xmlTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rules of documents. One that defines entities is never accepted.
    public var scanner: XMLScanner
    /// The most attributes of an element. Default 1024.
    public var attributeLimit: Int
    /// True where the prefixes of names are looked up, and have to be declared. Default true.
    public var readsNamespaces: Bool

    /// Makes a serializer.
    public init(
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.xmlTypes,
        scanner: XMLScanner = XMLScanner(), attributeLimit: Int = 1024, readsNamespaces: Bool = true
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
        self.scanner = scanner
        self.attributeLimit = attributeLimit
        self.readsNamespaces = readsNamespaces
    }

    /// The contract that the properties make.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .xml(self.scanner))
    }

    /// Holds the response to the contract, which no empty body keeps where there can be one, and judges the document to
    /// its end.
    ///
    /// - Returns: a reader before the document's first part; nil where there can be no body.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> XMLReader? {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { body throws(BodyProblem) in
            do throws(XMLSyntaxError) {
                return try XMLReader(
                    body, scanner: self.scanner, attributeLimit: self.attributeLimit,
                    readsNamespaces: self.readsNamespaces)
            } catch {
                throw BodyProblem(error)
            }
        }
    }
}
