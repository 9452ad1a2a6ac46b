// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Returns a reader that delivers the parts of an XML document one by one.
public struct XMLReaderResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/xmlTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rules for documents. A document that defines entities is never accepted.
    public var scanner: XMLScanner
    /// The maximum number of attributes of an element. Default 1024.
    public var attributeLimit: Int
    /// True if the prefixes of names are resolved, and must be declared. Default true.
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

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .xml(self.scanner))
    }

    /// Checks the response against the contract, and the whole document. An empty body is a violation unless the response
    /// cannot have a body.
    ///
    /// - Returns: a reader before the first part of the document; nil if the response cannot have a body.
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
