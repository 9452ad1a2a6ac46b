// SPDX-License-Identifier: Apache-2.0

/// Reads XML into a tree.
public struct XMLDocumentResponseSerializer: ResponseSerializer, Equatable {
    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?
    /// The acceptable media types; nil accepts any. Default ``ResponseContract/xmlTypes``.
    public var acceptableContentTypes: Set<String>?
    /// The rules of documents. One that defines entities is never accepted.
    public var scanner: XMLScanner
    /// How large the tree may be.
    public var limits: XMLDocument.Limits
    /// True where the prefixes of names are looked up, and have to be declared. Default true.
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

    /// The contract that the properties make.
    public var contract: ResponseContract {
        ResponseContract(
            acceptableStatusCodes: self.acceptableStatusCodes, acceptableContentTypes: self.acceptableContentTypes,
            body: .xml(self.scanner))
    }

    /// Holds the response to the contract, which no empty body keeps where there can be one, and reads the document.
    ///
    /// - Returns: nil where there can be no body, as with status 204.
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
