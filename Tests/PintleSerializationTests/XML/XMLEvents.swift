// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting

/// Returns all parts of a document, or throws its error.
func events(_ document: String, readsNamespaces: Bool = true) throws(XMLSyntaxError) -> [XMLReader.Event] {
    var reader = try XMLReader(bytes(document), readsNamespaces: readsNamespaces)
    var events: [XMLReader.Event] = []
    while let event = try reader.next() { events.append(event) }
    return events
}

/// Returns all parts of a document, found by walking its tree.
func events(of document: XMLDocument) -> [XMLReader.Event] {
    var events: [XMLReader.Event] = []
    // An explicit stack, since a document may be deeper than the thread's stack allows.
    var open: [(XMLElement?, XMLChildren.Iterator)] = [(nil, document.children.makeIterator())]
    var type = document.documentType
    while let (element, iterator) = open.popLast() {
        var iterator = iterator
        guard let node = iterator.next() else {
            if let element { events.append(.end(element.name)) }
            continue
        }
        open.append((element, iterator))
        if case .element(let child) = node {
            // The tree does not record the place of the document type among comments.
            if open.count == 1, let found = type {
                events.append(.documentType(found))
                type = nil
            }
            events.append(.start(child.name, child.attributes))
            open.append((child, child.children.makeIterator()))
        } else {
            events.append(XMLReader.Event(node))
        }
    }
    return events
}

extension XMLReader.Event {
    /// Makes the reader's event for a node that is no element.
    fileprivate init(_ node: XMLNode) {
        switch node {
        case .element(let element): self = .end(element.name)
        case .text(let text): self = .text(text)
        case .section(let text): self = .section(text)
        case .comment(let text): self = .comment(text)
        case .instruction(let target, let content): self = .instruction(target: target, content: content)
        }
    }
}

/// The error of a document.
func xmlProblem(_ document: String, readsNamespaces: Bool = true) -> String? {
    do throws(XMLSyntaxError) {
        _ = try events(document, readsNamespaces: readsNamespaces)
        return nil
    } catch {
        return error.description
    }
}

/// Well-formed documents whose prefixes are mostly declared.
struct RandomXMLDocument {
    private var random: SeededGenerator

    init(seed: UInt64) { self.random = SeededGenerator(seed: seed) }

    private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &self.random) ?? "" }

    mutating func document() -> String {
        var text = self.pick(["", "<?xml version='1.0'?>", "<?xml version=\"1.0\" encoding='utf-8'?>\n"])
        text += self.pick(["", "<!-- first -->", "\n<?go on?>\n"])
        text += self.pick(["", "", "<!DOCTYPE a>", "<!DOCTYPE a SYSTEM 'x.dtd'>\n", "<!DOCTYPE a PUBLIC \"-//P\" 's'>"])
        text += self.element(depth: 0) + self.pick(["", "\n", "<!--last-->", "<?end?> "])
        return text
    }

    private mutating func element(depth: Int) -> String {
        let name = self.pick(["a", "b", "p:a", "p:b", "q:a", "é", "xml:a", "a-.1"])
        var attributes: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &self.random) {
            let key = self.pick(["x", "y", "p:x", "q:x", "p:y", "xml:lang", "xmlns", "xmlns:p", "xmlns:q", "xmlns:q"])
            attributes[key] =
                key.hasPrefix("xmlns")
                ? self.pick(["urn:1", "urn:2", "urn:&amp;", "urn:1"])
                : self.pick(["", "v", " a\tb\nc\r\nd ", "&lt;&#10;&#x9;&quot;", "'é>", "\u{10000}"])
        }
        if depth == 0, Bool.random(using: &self.random) { attributes["xmlns:p"] = "urn:p" }
        let list = attributes.sorted { $0.key < $1.key }.map { " \($0.key) = \"\($0.value)\"" }.joined()
        guard depth < 5, Int.random(in: 0...3, using: &self.random) > 0 else { return "<\(name)\(list)/>" }
        var content = ""
        for _ in 0..<Int.random(in: 0...4, using: &self.random) {
            content +=
                Bool.random(using: &self.random)
                ? self.element(depth: depth + 1)
                : self.pick([
                    "text", " ", "\r\n", "a\rb", "&amp;&apos;&#169;", "<![CDATA[<&\r\n]]>", "<![CDATA[]]>", "<!--c-->",
                    "<?p?>", "<?p  q r ?>", "]]", "é", "<!-- \r -->",
                ])
        }
        return "<\(name)\(list)\n>\(content)</\(name) >"
    }
}
