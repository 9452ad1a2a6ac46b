// SPDX-License-Identifier: Apache-2.0

/// Reads an XML document part by part, each when it is asked for: the event form of a document, of which ``XMLDocument``
/// is the tree.
///
/// The document is judged when the reader is made, so a reader is of a document that is well-formed to its end. What can
/// be wrong later are namespaces and limits.
public struct XMLReader: Sendable {
    /// A part of a document. Texts that are next to each other are one, and so is the text of references.
    public enum Event: Sendable, Hashable {
        /// The document type declaration.
        case documentType(XMLDocumentType)
        /// An element begins. Its attributes are in their order, declarations of namespaces among them.
        case start(XMLName, [XMLAttribute])
        /// An element ends, also one that is a single tag.
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

    /// Judges a document, and begins before its first part.
    ///
    /// - Parameters:
    ///   - scanner: what is accepted.
    ///   - attributeLimit: the most attributes of an element. Default 1024.
    ///   - readsNamespaces: whether the prefixes of names are looked up, and have to be declared. Default true.
    /// - Throws: what ``XMLScanner/validate(_:)`` throws.
    public init(
        _ bytes: [UInt8], scanner: XMLScanner = XMLScanner(), attributeLimit: Int = 1024, readsNamespaces: Bool = true
    ) throws(XMLSyntaxError) {
        self.document = try XMLCursor(bytes, scanner)
        self.names = XMLNameResolver(readsNamespaces: readsNamespaces, attributeLimit: attributeLimit)
    }

    /// The next part, or nil at the end.
    ///
    /// - Throws: where a name has a prefix that stands for no namespace, or a limit is exceeded. After an error the
    ///   reader is of no use.
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
