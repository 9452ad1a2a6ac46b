// SPDX-License-Identifier: Apache-2.0

/// An element of an ``XMLDocument``, which it keeps alive.
public struct XMLElement: Sendable {
    let tree: XMLTree
    let index: Int

    private var record: XMLTree.Record { self.tree.records[self.index] }

    /// Its name.
    public var name: XMLName { self.tree.names[Int(self.record.name)] }

    /// Its attributes in their order, declarations of namespaces among them.
    public var attributes: [XMLAttribute] {
        self.tree.attributes[self.record.content].map {
            XMLAttribute(self.tree.names[Int($0.name)], self.tree.text(at: $0.value))
        }
    }

    /// The value of an attribute, or nil.
    ///
    /// - Parameters:
    ///   - name: without prefix.
    ///   - namespace: empty for none, which is where attributes without prefix are; nil for any.
    public subscript(name: String, namespace namespace: String? = "") -> String? {
        self.tree.attributes[self.record.content]
            .first { self.tree.names[Int($0.name)].matches(name, namespace) }
            .map { self.tree.text(at: $0.value) }
    }

    /// The element that it is in; nil for the document's.
    public var parent: XMLElement? {
        let parent = Int(self.record.parent)
        return self.tree.records[parent].kind == .element ? XMLElement(tree: self.tree, index: parent) : nil
    }

    // MARK: Contents

    /// All that it contains directly.
    public var children: XMLChildren { XMLChildren(tree: self.tree, index: self.index) }

    /// All text that it contains at any depth, that of CDATA sections included.
    public var text: String {
        var text: [UInt8] = []
        for index in self.index..<Int(self.record.end) {
            let record = self.tree.records[index]
            if record.kind == .text || record.kind == .section { text += self.tree.text[record.content] }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The elements that it contains directly.
    ///
    /// - Parameters:
    ///   - name: without prefix; nil for any.
    ///   - namespace: empty for none; nil for any.
    public func elements(_ name: String? = nil, namespace: String? = nil) -> [XMLElement] {
        self.children.elements.filter { $0.name.matches(name, namespace) }
    }

    /// The first of ``elements(_:namespace:)``.
    public func element(_ name: String, namespace: String? = nil) -> XMLElement? {
        self.children.elements.first { $0.name.matches(name, namespace) }
    }

    /// The elements of a name that it contains at any depth, in the order of the document.
    ///
    /// - Parameters:
    ///   - name: without prefix; nil for any.
    ///   - namespace: empty for none; nil for any.
    public func descendants(_ name: String? = nil, namespace: String? = nil) -> [XMLElement] {
        (self.index + 1..<Int(self.record.end)).compactMap { index in
            self.tree.name(at: index)?.matches(name, namespace) == true
                ? XMLElement(tree: self.tree, index: index) : nil
        }
    }

    /// The elements at the end of a path, in the order of the document.
    ///
    /// - Parameters:
    ///   - path: names without prefix, separated by slashes, from an element within this one on; `*` is any name:
    ///     `channel/item/title`.
    ///   - namespace: of all of them; empty for none, nil for any.
    public func elements(at path: String, namespace: String? = nil) -> [XMLElement] {
        path.utf8.split(separator: UInt8(ascii: "/")).reduce([self]) { found, step in
            let name = step.elementsEqual("*".utf8) ? nil : String(decoding: step, as: UTF8.self)
            return found.flatMap { $0.elements(name, namespace: namespace) }
        }
    }

    /// The first of ``elements(at:namespace:)``.
    public func element(at path: String, namespace: String? = nil) -> XMLElement? {
        self.elements(at: path, namespace: namespace).first
    }
}

extension XMLElement: Hashable {
    /// True where both are the same element of the same tree.
    public static func == (left: XMLElement, right: XMLElement) -> Bool {
        left.tree === right.tree && left.index == right.index
    }

    /// Hashes the place.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self.tree))
        hasher.combine(self.index)
    }
}
