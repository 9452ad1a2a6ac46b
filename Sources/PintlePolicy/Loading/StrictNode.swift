// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// A YAML node that knows its place and reports problems there.
///
/// A function that reads a node returns nil after it has reported a problem. Its caller then keeps the default and continues.
package struct StrictNode {
    let node: YAMLNode
    /// The path of the node's key: `routes[2].pins[0]`; empty for the top level. A long one begins with `…`.
    package let path: String
    /// The place of the node's first character.
    package let position: SourcePosition
    package let context: LoadingContext

    /// The longest path in bytes. Each of many nodes on the deepest level has a path of its own.
    private static let longestPath = 400

    init(_ node: YAMLNode, path: String, context: LoadingContext) {
        self.node = node
        self.path = path.utf8.count > Self.longestPath ? "…\(path.suffix(Self.longestPath / 2))" : path
        self.position = context.place(node.position)
        self.context = context
    }

    /// Reports a problem of this node; see ``LoadingContext/report(_:path:at:)``.
    package func report(_ message: @autoclosure () -> String) {
        self.context.report(message(), path: self.path, at: self.position)
    }

    /// Turns a path of this node into one that the process can open: relative paths are relative to the configuration file.
    ///
    /// Reports a path with a zero byte, which the system would take for its end, and so open another file.
    package func resolve(_ path: String) -> String {
        if path.utf8.contains(0) { self.report("a path has no zero byte, as \"\(path.excerpt)\" has") }
        return self.context.resolve(path)
    }

    /// True if the node is empty, `~` or `null`: a key without a value.
    package var isNull: Bool {
        guard case .scalar(let scalar) = self.node.content, scalar.isPlain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// True if the node is `[]`.
    package var isEmptyList: Bool {
        guard case .sequence(let sequence) = self.node.content else { return false }
        return sequence.isEmpty
    }

    /// True if the node is a list.
    package var isList: Bool {
        guard case .sequence = self.node.content else { return false }
        return true
    }

    /// True if the node is a map.
    package var isMap: Bool {
        guard case .mapping = self.node.content else { return false }
        return true
    }

    /// True if the node is exactly this text.
    package func isScalar(_ text: String) -> Bool {
        guard case .scalar(let scalar) = self.node.content else { return false }
        return scalar.string == text
    }

    /// The node's text as written in the file, in quotes, for messages; never the value that `env:` or `file:` refers to.
    package var quoted: String {
        if case .scalar = self.node.content { return "\"\(self.spelling)\"" }
        return self.spelling
    }

    /// The node's text as written in the file, without quotes.
    var spelling: String {
        switch self.node.content {
        case .scalar(let scalar): scalar.string.excerpt
        case .mapping: "a map"
        case .sequence: "a list"
        }
    }

    // MARK: Structure

    /// The members of a list.
    package func list() -> [StrictNode]? {
        guard case .sequence(let sequence) = self.node.content else {
            self.report(self.isNull ? "has no value; a list is missing" : "must be a list, not \(self.quoted)")
            return nil
        }
        return sequence.enumerated().map { index, node in
            StrictNode(node, path: "\(self.path)[\(index)]", context: self.context)
        }
    }

    /// The members of a list that must not be empty; a scalar counts as a list of one.
    package func oneOrMore() -> [StrictNode]? {
        if case .scalar = self.node.content, !self.isNull { return [self] }
        guard let list = self.list() else { return nil }
        if list.isEmpty { self.report("an empty list means nothing here; leave the key out or name something") }
        return list.isEmpty ? nil : list
    }

    /// The entries of a map with keys that the user chooses, in the order of the file. An empty value is an empty map.
    ///
    /// - Parameter takesMergeKeys: true if `<<` is a key like any other. Default false: it is a problem, because the entries of
    ///   the map behind it would be missing.
    package func entries(takingMergeKeys takesMergeKeys: Bool = false) -> [StrictEntry]? {
        if self.isNull { return [] }
        guard case .mapping(let mapping) = self.node.content else {
            self.report("must be a map, not \(self.quoted)")
            return nil
        }
        var entries: [StrictEntry] = []
        for (keyNode, valueNode) in mapping {
            let position = self.context.place(keyNode.position)
            guard case .scalar(let scalar) = keyNode.content else {
                self.context.report("a key must be text", path: self.path, at: position)
                continue
            }
            let key = scalar.string
            if key == "<<", scalar.isPlain, !takesMergeKeys {
                self.context.report(
                    "unknown key \"<<\": merge keys are not supported; repeat the lines", path: self.path, at: position)
                continue
            }
            let path = self.path.isEmpty ? key.excerpt : "\(self.path).\(key.excerpt)"
            let value = StrictNode(valueNode, path: path, context: self.context)
            entries.append(StrictEntry(key: key, position: position, value: value))
        }
        return entries
    }

    /// A map that may have these keys and no others.
    package func map(_ keys: KeySet) -> StrictMap? {
        guard let entries = self.entries() else { return nil }
        for entry in entries where !keys.known.contains(entry.key) {
            self.context.report(keys.refusal(of: entry.key), path: self.path, at: entry.position)
        }
        return StrictMap(node: self, keys: keys, entries: entries)
    }
}

/// One key and its value.
package struct StrictEntry {
    package let key: String
    /// The place of the key.
    package let position: SourcePosition
    package let value: StrictNode
}

/// A map with keys that were checked.
package struct StrictMap {
    package let node: StrictNode
    let keys: KeySet
    package let entries: [StrictEntry]

    /// The value of `key`; nil if it is not given.
    package subscript(_ key: String) -> StrictNode? {
        precondition(self.keys.known.contains(key), "BUG: \(key) is not a key of \"\(self.keys.path)\"")
        return self.entries.first { $0.key == key }?.value
    }

    /// Replaces `target` by the value that `read` makes of `key`, if the key is given and its value is right.
    package func read<Value>(_ key: String, into target: inout Value, _ read: (StrictNode) -> Value?) {
        if let node = self[key], let value = read(node) { target = value }
    }
}

extension KeySet {
    /// The reason why `key` is refused.
    fileprivate func refusal(of key: String) -> String {
        if self.elsewhere.contains(key) {
            return "\"\(key)\" stands in the main file; one that is included has \(self.known.joined(separator: ", "))"
        }
        guard let nearest = self.nearest(to: key) else {
            return "unknown key \"\(key.excerpt)\"; the keys here are \(self.known.joined(separator: ", "))"
        }
        return "unknown key \"\(key.excerpt)\"; did you mean \"\(nearest)\"?"
    }
}

extension String {
    /// The text for one line of a message: deceptive characters are escaped, and it is cut after 80 scalars.
    package var excerpt: String {
        var result = ""
        for scalar in self.unicodeScalars.prefix(80) {
            result += scalar.isDeceptive ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return self.unicodeScalars.count > 80 ? result + "…" : result
    }
}
