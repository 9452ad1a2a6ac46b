// SPDX-License-Identifier: Apache-2.0

/// Reads an XML document part by part, on demand: as events, whereas ``XMLDocument`` is a tree.
///
/// The whole document is checked when the reader is made, so it is well-formed to its end. Later errors can only be about
/// namespaces and limits.
public struct XMLReader: Sendable {
    /// A part of a document. Adjacent texts, and the texts of references, are one part.
    public enum Event: Sendable, Hashable {
        /// The document type declaration.
        case documentType(XMLDocumentType)
        /// An element begins. Its attributes are in order, including declarations of namespaces.
        case start(XMLName, [XMLAttribute])
        /// An element ends, also one that consists of a single tag.
        case end(XMLName)
        /// Text within an element; also white space between elements.
        case text(String)
        /// The text of a CDATA section.
        case section(String)
        /// A comment.
        case comment(String)
        /// A processing instruction.
        case instruction(target: String, content: String)
    }

    private var document: XMLCursor
    private var names: XMLNameResolver

    /// Checks a document, and makes a reader before its first part.
    ///
    /// - Parameters:
    ///   - scanner: the rules for accepted documents.
    ///   - attributeLimit: the maximum number of attributes of an element. Default 1024.
    ///   - readsNamespaces: true if the prefixes of names are resolved, and must be declared. Default true.
    /// - Throws: the errors of ``XMLScanner/validate(_:)``.
    public init(
        _ bytes: [UInt8], scanner: XMLScanner = XMLScanner(), attributeLimit: Int = 1024, readsNamespaces: Bool = true
    ) throws(XMLSyntaxError) {
        self.document = try XMLCursor(bytes, scanner)
        self.names = XMLNameResolver(readsNamespaces: readsNamespaces, attributeLimit: attributeLimit)
    }

    /// Returns the next part, or nil at the end.
    ///
    /// - Throws: ``XMLSyntaxError`` if a prefix is not declared, or a limit is exceeded. After an error the reader must not
    ///   be used any more.
    public mutating func next() throws(XMLSyntaxError) -> Event? {
        switch self.document.next() {
        case .start(let name, let attributes):
            let number = try self.names.open(name, attributes: attributes, in: self.document)
            return .start(
                self.names.names[number],
                self.names.attributes.map { attribute in
                    XMLAttribute(
                        self.names.names[attribute.name], self.document.text(of: attribute.value, as: .value))
                })
        case .end: return .end(self.names.names[self.names.close()])
        case .text(let range): return .text(self.document.text(of: range, as: .text))
        case .section(let range): return .section(self.document.text(of: range, as: .literal))
        case .comment(let range): return .comment(self.document.text(of: range, as: .literal))
        case .instruction(let target, let content):
            return .instruction(
                target: self.document.text(of: target, as: .literal),
                content: self.document.text(of: content, as: .literal))
        case .documentType(let range): return .documentType(XMLDocumentType(self.document.bytes[range]))
        case nil: return nil
        }
    }
}
