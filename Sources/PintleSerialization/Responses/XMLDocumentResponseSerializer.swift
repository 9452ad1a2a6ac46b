// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Reads XML into a tree.
public struct XMLDocumentResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/xmlTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rules for documents. A document that defines entities is never accepted.
    public var scanner: XMLScanner
    /// The limits of the tree.
    public var limits: XMLDocument.Limits
    /// True if the prefixes of names are resolved, and must be declared. Default true.
    public var readsNamespaces: Bool

    /// Makes a serializer.
    public init(
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299],
        acceptableContentTypes: Set<String>? = ResponseContract.xmlTypes,
        scanner: XMLScanner = XMLScanner(), limits: XMLDocument.Limits = XMLDocument.Limits(),
        readsNamespaces: Bool = true
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
        self.scanner = scanner
        self.limits = limits
        self.readsNamespaces = readsNamespaces
    }

    /// The contract made of the other properties.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .xml(self.scanner))
    }

    /// Checks the response against the contract, and reads the document. An empty body is a violation unless the response
    /// cannot have a body.
    ///
    /// - Returns: nil if the response cannot have a body, as with status 204.
    public func decode(
        _ head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> XMLDocument? {
        try self.contract.read(body, of: head, requestMethod: requestMethod) { body throws(BodyProblem) in
            do throws(XMLSyntaxError) {
                return try XMLDocument(
                    body, scanner: self.scanner, limits: self.limits, readsNamespaces: self.readsNamespaces)
            } catch {
                throw BodyProblem(error)
            }
        }
    }
}
