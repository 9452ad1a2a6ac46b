// SPDX-License-Identifier: Apache-2.0

/// An XML document as an immutable tree: elements with attributes, texts, comments and instructions.
///
/// A document that ``XMLScanner`` refuses is an error. Building the tree takes time in proportion to the length of the
/// document, and memory of at most that length and about 50 bytes for each node; depth needs no extra memory.
public struct XMLDocument: Sendable {
    /// Limits of the size of a tree. Its depth is limited by ``XMLScanner/nestingLimit``.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of elements, attributes, texts, comments and instructions together. Default 1 Mi.
        public var nodes: Int
        /// The maximum number of attributes of an element. Default 1024.
        public var attributes: Int

        /// Makes limits.
        public init(nodes: Int = 1 << 20, attributes: Int = 1024) {
            self.nodes = nodes
            self.attributes = attributes
        }
    }

    /// The root element, which contains all others.
    public let root: XMLElement
    private let tree: XMLTree

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - scanner: the rules for accepted documents.
    ///   - limits: limits of the size of the tree.
    ///   - readsNamespaces: true if the prefixes of names are resolved, and must be declared. Default true.
    /// - Throws: the place and the reason if the bytes are not XML, or exceed the limits.
    public init(
        _ bytes: [UInt8], scanner: XMLScanner = XMLScanner(), limits: Limits = Limits(), readsNamespaces: Bool = true
    ) throws(XMLSyntaxError) {
        var document = try XMLCursor(bytes, scanner)
        var builder = XMLTreeBuilder(limits, readsNamespaces: readsNamespaces)
        try builder.read(&document)
        self.tree = XMLTree(builder)
        guard let root = XMLChildren(tree: self.tree, index: 0).elements.first(where: { _ in true }) else {
            preconditionFailure("BUG: a document without element was accepted")
        }
        self.root = root
    }

    /// The document type declaration, if there is one.
    public var documentType: XMLDocumentType? { self.tree.documentType }

    /// The root element, and the comments and instructions before and after it.
    public var children: XMLChildren { XMLChildren(tree: self.tree, index: 0) }
}

/// A part of an element, or of a document.
public enum XMLNode: Sendable, Hashable {
    /// An element.
    case element(XMLElement)
    /// Text, also white space between elements.
    case text(String)
    /// The text of a CDATA section.
    case section(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, content: String)
}

/// The parts of an element, or of a document, in order.
public struct XMLChildren: Sequence, Sendable {
    let tree: XMLTree
    let index: Int

    /// Returns an iterator that begins with the first part.
    public func makeIterator() -> Iterator {
        Iterator(tree: self.tree, index: self.index + 1, end: Int(self.tree.records[self.index].end))
    }

    /// The parts that are elements.
    var elements: some Sequence<XMLElement> {
        self.indices.lazy.filter { self.tree.records[$0].kind == .element }
            .map { XMLElement(tree: self.tree, index: $0) }
    }

    var indices: some Sequence<Int> {
        let end = Int(self.tree.records[self.index].end)
        return sequence(state: self.index + 1) { next -> Int? in
            guard next < end else { return nil }
            defer { next = Int(self.tree.records[next].end) }
            return next
        }
    }

    /// An iterator over the parts.
    public struct Iterator: IteratorProtocol {
        let tree: XMLTree
        var index: Int
        let end: Int

        /// Returns the next part.
        public mutating func next() -> XMLNode? {
            guard self.index < self.end else { return nil }
            defer { self.index = Int(self.tree.records[self.index].end) }
            return self.tree.node(at: self.index)
        }
    }
}
