// SPDX-License-Identifier: Apache-2.0

/// An element of an ``XMLDocument``. It keeps the whole tree alive.
public struct XMLElement: Sendable {
    let tree: XMLTree
    let index: Int

    private var record: XMLTree.Record { self.tree.records[self.index] }

    /// The name of the element.
    public var name: XMLName { self.tree.names[Int(self.record.name)] }

    /// The attributes in order, including declarations of namespaces.
    public var attributes: [XMLAttribute] {
        self.tree.attributes[self.record.content].map {
            XMLAttribute(self.tree.names[Int($0.name)], self.tree.text(at: $0.value))
        }
    }

    /// Returns the value of an attribute, or nil.
    ///
    /// - Parameters:
    ///   - name: the local name, without prefix.
    ///   - namespace: the namespace; empty for none, as attributes without prefix have it; nil for any.
    public subscript(name: String, namespace namespace: String? = "") -> String? {
        self.tree.attributes[self.record.content]
            .first { self.tree.names[Int($0.name)].matches(name, namespace) }
            .map { self.tree.text(at: $0.value) }
    }

    /// The element around this one; nil for the root element.
    public var parent: XMLElement? {
        let parent = Int(self.record.parent)
        return self.tree.records[parent].kind == .element ? XMLElement(tree: self.tree, index: parent) : nil
    }

    // MARK: Contents

    /// All direct parts of this element.
    public var children: XMLChildren { XMLChildren(tree: self.tree, index: self.index) }

    /// All text in this element at any depth, including CDATA sections.
    public var text: String {
        var text: [UInt8] = []
        for index in self.index..<Int(self.record.end) {
            let record = self.tree.records[index]
            if record.kind == .text || record.kind == .section { text += self.tree.text[record.content] }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the direct child elements.
    ///
    /// - Parameters:
    ///   - name: the local name, without prefix; nil for any.
    ///   - namespace: the namespace; empty for none, nil for any.
    public func elements(_ name: String? = nil, namespace: String? = nil) -> [XMLElement] {
        self.children.elements.filter { $0.name.matches(name, namespace) }
    }

    /// Returns the first of ``elements(_:namespace:)``.
    public func element(_ name: String, namespace: String? = nil) -> XMLElement? {
        self.children.elements.first { $0.name.matches(name, namespace) }
    }

    /// Returns the elements with this name at any depth, in document order.
    ///
    /// - Parameters:
    ///   - name: the local name, without prefix; nil for any.
    ///   - namespace: the namespace; empty for none, nil for any.
    public func descendants(_ name: String? = nil, namespace: String? = nil) -> [XMLElement] {
        (self.index + 1..<Int(self.record.end)).compactMap { index in
            self.tree.name(at: index)?.matches(name, namespace) == true
                ? XMLElement(tree: self.tree, index: index) : nil
        }
    }

    /// Returns the elements at the end of a path, in document order.
    ///
    /// - Parameters:
    ///   - path: local names, separated by slashes, beginning with that of a child of this element; `*` is any name:
    ///     `channel/item/title`.
    ///   - namespace: the namespace of all of them; empty for none, nil for any.
    public func elements(at path: String, namespace: String? = nil) -> [XMLElement] {
        path.utf8.split(separator: UInt8(ascii: "/")).reduce([self]) { found, step in
            let name = step.elementsEqual("*".utf8) ? nil : String(decoding: step, as: UTF8.self)
            return found.flatMap { $0.elements(name, namespace: namespace) }
        }
    }

    /// Returns the first of ``elements(at:namespace:)``.
    public func element(at path: String, namespace: String? = nil) -> XMLElement? {
        self.elements(at: path, namespace: namespace).first
    }
}

extension XMLElement: Hashable {
    /// True if both are the same element of the same tree.
    public static func == (left: XMLElement, right: XMLElement) -> Bool {
        left.tree === right.tree && left.index == right.index
    }

    /// Hashes the identity of the element.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self.tree))
        hasher.combine(self.index)
    }
}
