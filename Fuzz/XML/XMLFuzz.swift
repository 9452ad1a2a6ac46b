// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSerialization

/// Fuzzes XML: one verdict, and one error with its place, for a document whole and in pieces; its tree and its reader have
/// the same elements and the same text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzXML(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let document = fuzzedBytes(data, count)
    let scanner = XMLScanner(nestingLimit: count & 1 == 0 ? 512 : 4)
    let whole = outcome { () throws(XMLSyntaxError) in try scanner.validate(document) }
    let inPieces = outcome { () throws(XMLSyntaxError) in
        var validator = XMLValidator(scanner)
        for piece in document.pieces { try validator.take(piece) }
        try validator.finish()
    }
    hold(inPieces.failure == whole.failure, "pieces have the verdict of the whole: \(inPieces), not \(whole)")
    for readsNamespaces in [true, false] {
        let tree = outcome { () throws(XMLSyntaxError) in
            Outline(try XMLDocument(document, scanner: scanner, readsNamespaces: readsNamespaces))
        }
        let parts = outcome { () throws(XMLSyntaxError) in
            var reader = try XMLReader(document, scanner: scanner, readsNamespaces: readsNamespaces)
            return try Outline(&reader)
        }
        hold(tree == parts, "a tree has what a reader gives: \(tree), not \(parts)")
        if let error = whole.failure { hold(tree.failure == error, "a tree is of what is well-formed: \(tree)") }
        if !readsNamespaces, whole.failure == nil { hold(tree.failure == nil, "a tree is made of it: \(tree)") }
    }
    return 0
}

/// The elements of a document with their attributes, and its text.
private struct Outline: Equatable {
    var elements: [XMLName] = []
    var attributes: [XMLAttribute] = []
    var text: [UInt8] = []

    init(_ document: XMLDocument) {
        for element in [document.root] + document.root.descendants() {
            self.elements.append(element.name)
            self.attributes += element.attributes
        }
        self.text = Array(document.root.text.utf8)
    }

    init(_ reader: inout XMLReader) throws(XMLSyntaxError) {
        while let event = try reader.next() {
            switch event {
            case .start(let name, let attributes):
                self.elements.append(name)
                self.attributes += attributes
            case .text(let text), .section(let text): self.text += text.utf8
            case .end, .comment, .instruction, .documentType: continue
            }
        }
    }
}
