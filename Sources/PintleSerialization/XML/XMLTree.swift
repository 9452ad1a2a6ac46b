// SPDX-License-Identifier: Apache-2.0

/// The parts of a document in one list, in document order: the contents of an element follow it directly.
///
/// Parts hold no references to each other, so a tree of any depth is freed at once, and is walked without recursion. All
/// text is in one block.
final class XMLTree: Sendable {
    /// A part of a document.
    struct Record: Sendable {
        enum Kind: UInt8 {
            /// The first record, which contains all others.
            case document
            case element, text, section, comment, instruction
        }

        let kind: Kind
        /// The number of an element's name; for an instruction, the number of bytes of its text that are the target.
        let name: UInt32
        /// The index of the parent; the document is its own parent.
        let parent: UInt32
        /// The index of the first record after its contents.
        var end: UInt32
        /// The places of an element's attributes in ``XMLTree/attributes``; for other parts, the place of their text.
        let content: Range<Int>
    }

    struct Attribute: Sendable {
        let name: UInt32
        let value: Range<Int>
    }

    let records: [Record]
    let attributes: [Attribute]
    let text: [UInt8]
    let names: [XMLName]
    let documentType: XMLDocumentType?

    init(_ builder: consuming XMLTreeBuilder) {
        self.records = builder.records
        self.attributes = builder.attributes
        self.text = builder.text
        self.names = builder.resolver.names
        self.documentType = builder.documentType
    }

    func text(at range: Range<Int>) -> String { String(decoding: self.text[range], as: UTF8.self) }

    func node(at index: Int) -> XMLNode {
        let record = self.records[index]
        switch record.kind {
        case .document: preconditionFailure("BUG: a document is within nothing")
        case .element: return .element(XMLElement(tree: self, index: index))
        case .text: return .text(self.text(at: record.content))
        case .section: return .section(self.text(at: record.content))
        case .comment: return .comment(self.text(at: record.content))
        case .instruction:
            let middle = record.content.lowerBound + Int(record.name)
            return .instruction(
                target: self.text(at: record.content.lowerBound..<middle),
                content: self.text(at: middle..<record.content.upperBound))
        }
    }

    /// The name of the element at `index`; nil for other parts.
    func name(at index: Int) -> XMLName? {
        let record = self.records[index]
        return record.kind == .element ? self.names[Int(record.name)] : nil
    }
}

/// Builds a tree from the parts of a document.
struct XMLTreeBuilder {
    private(set) var records: [XMLTree.Record] = []
    private(set) var attributes: [XMLTree.Attribute] = []
    private(set) var text: [UInt8] = []
    private(set) var documentType: XMLDocumentType?
    private(set) var resolver: XMLNameResolver
    private let nodeLimit: Int
    /// The indices of the open records, the innermost last.
    private var open: [UInt32] = [0]

    init(_ limits: XMLDocument.Limits, readsNamespaces: Bool) {
        self.resolver = XMLNameResolver(readsNamespaces: readsNamespaces, attributeLimit: limits.attributes)
        // Indices have 32 bits.
        self.nodeLimit = min(limits.nodes, Int(UInt32.max) - 1)
        self.records.append(XMLTree.Record(kind: .document, name: 0, parent: 0, end: 0, content: 0..<0))
    }

    mutating func read(_ document: inout XMLCursor) throws(XMLSyntaxError) {
        while let token = document.next() {
            switch token {
            case .start(let name, let area):
                let number = try self.resolver.open(name, attributes: area, in: document)
                let start = self.attributes.count
                for attribute in self.resolver.attributes {
                    let value = self.appended(attribute.value, .value, of: document)
                    self.attributes.append(XMLTree.Attribute(name: UInt32(attribute.name), value: value))
                }
                self.open.append(UInt32(self.records.count))
                try self.append(
                    .element, name: UInt32(number), start..<self.attributes.count, isOpen: true, at: name, of: document)
            case .end:
                _ = self.resolver.close()
                guard let index = self.open.popLast() else { preconditionFailure("BUG: the document was closed") }
                self.records[Int(index)].end = UInt32(self.records.count)
            case .text(let range): try self.append(.text, range, .text, of: document)
            case .section(let range): try self.append(.section, range, .literal, of: document)
            case .comment(let range): try self.append(.comment, range, .literal, of: document)
            case .instruction(let target, let content):
                let start = self.appended(target, .literal, of: document)
                let end = self.appended(content, .literal, of: document)
                try self.append(
                    .instruction, name: UInt32(start.count), start.lowerBound..<end.upperBound, at: target, of: document
                )
            case .documentType(let range): self.documentType = XMLDocumentType(document.bytes[range])
            }
        }
        self.records[0].end = UInt32(self.records.count)
    }

    private mutating func append(
        _ kind: XMLTree.Record.Kind, _ range: Range<Int>, _ form: XMLCursor.Form, of document: XMLCursor
    ) throws(XMLSyntaxError) {
        let content = self.appended(range, form, of: document)
        try self.append(kind, name: 0, content, at: range, of: document)
    }

    private mutating func appended(
        _ range: Range<Int>, _ form: XMLCursor.Form, of document: XMLCursor
    ) -> Range<Int> {
        let start = self.text.count
        document.append(range, as: form, to: &self.text)
        return start..<self.text.count
    }

    private mutating func append(
        _ kind: XMLTree.Record.Kind, name: UInt32, _ content: Range<Int>, isOpen: Bool = false, at place: Range<Int>,
        of document: XMLCursor
    ) throws(XMLSyntaxError) {
        guard self.records.count - 1 + self.attributes.count < self.nodeLimit else {
            throw document.error("more than \(self.nodeLimit) nodes", at: place.lowerBound)
        }
        let parent = self.open[self.open.count - (isOpen ? 2 : 1)]
        self.records.append(
            XMLTree.Record(
                kind: kind, name: name, parent: parent, end: UInt32(self.records.count + 1), content: content))
    }
}
