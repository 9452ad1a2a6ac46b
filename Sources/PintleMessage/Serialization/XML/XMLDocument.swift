// SPDX-License-Identifier: Apache-2.0

/// An XML document as a tree that does not change: elements with attributes, texts, comments and instructions.
///
/// Whatever ``XMLScanner`` refuses is no document. A tree takes time that grows with the length of the document, and
/// memory of at most its length and about 50 bytes a node; depth costs nothing beyond that.
public struct XMLDocument: Sendable {
    /// How large a tree may grow. How deep is up to ``XMLScanner/nestingLimit``.
    public struct Limits: Sendable, Hashable {
        /// The most elements, attributes, texts, comments and instructions together. Default 1 Mi.
        public var nodes: Int
        /// The most attributes of an element. Default 1024.
        public var attributes: Int

        /// Makes limits.
        public init(nodes: Int = 1 << 20, attributes: Int = 1024) {
            self.nodes = nodes
            self.attributes = attributes
        }
    }

    /// The document's element, which contains all others.
    public let root: XMLElement
    private let tree: XMLTree

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - scanner: what is accepted.
    ///   - limits: how large it may be.
    ///   - readsNamespaces: whether the prefixes of names are looked up, and have to be declared. Default true.
    /// - Throws: where and why the bytes stop being XML, or being within the limits.
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

    /// The document type declaration, where there is one.
    public var documentType: XMLDocumentType? { self.tree.documentType }

    /// The element, and the comments and instructions before and after it.
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

/// The parts of an element, or of a document, in their order.
public struct XMLChildren: Sequence, Sendable {
    let tree: XMLTree
    let index: Int

    /// Begins with the first part.
    public func makeIterator() -> Iterator {
        Iterator(tree: self.tree, index: self.index + 1, end: Int(self.tree.records[self.index].end))
    }

    /// Those that are elements.
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

    /// Gives one part after another.
    public struct Iterator: IteratorProtocol {
        let tree: XMLTree
        var index: Int
        let end: Int

        /// The next part.
        public mutating func next() -> XMLNode? {
            guard self.index < self.end else { return nil }
            defer { self.index = Int(self.tree.records[self.index].end) }
            return self.tree.node(at: self.index)
        }
    }
}
