// SPDX-License-Identifier: Apache-2.0

/// Reads `name=value&name=value` into nested values: the inverse of ``QueryString``.
///
/// - `a[b]` is a member of the dictionary `a`, `a[]` an element of the array `a`, to any mixture of the two.
/// - In `a[][x]` a new element begins where the last one already has an `x`; `a[][]` goes on with the last inner array.
/// - A name without `=` is null. A name that repeats without brackets becomes a set.
/// - Brackets that are out of order, or that nothing precedes, are part of a plain name.
struct FormReader {
    /// The most pairs of brackets after a name.
    static let nestingLimit = 64

    private enum Step {
        case key([UInt8])
        case element
    }

    /// Nodes refer to each other by their place in `nodes`, so that depth costs no recursion while reading.
    private enum Node {
        /// A leaf that has just been made and gets its value next.
        case vacant
        case leaf(Parameter)
        case repeated([Parameter])
        case array([Int])
        /// The index is by bytes: `String` would take two spellings of one character for the same name.
        case dictionary(names: [[UInt8]], children: [Int], index: [[UInt8]: Int])

        static var emptyDictionary: Node { .dictionary(names: [], children: [], index: [:]) }
    }

    private let encoding: TextEncoding
    private var nodes: [Node] = [.emptyDictionary]

    /// Reads a form.
    ///
    /// - Throws: `.malformedBody` for broken escapes, bytes that are not text in `encoding`, nesting beyond
    ///   ``nestingLimit``, and a name that is used both for a value and for a container.
    static func read(_ bytes: [UInt8], encoding: TextEncoding = .utf8) throws(SerializationError) -> Parameter {
        var reader = FormReader(encoding: encoding)
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value: Parameter = parts.count == 2 ? .string(try reader.text(try Self.unescaped(parts[1]))) : .null
            try reader.insert(value, at: try Self.steps(of: try Self.unescaped(parts[0])))
        }
        return try reader.parameter(at: 0)
    }

    private init(encoding: TextEncoding) { self.encoding = encoding }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) throws(SerializationError) -> [UInt8] {
        guard let result = PercentEscaping.unescape(bytes, plusIsSpace: true) else {
            throw SerializationError(.malformedBody, "the form has a “%” without two hexadecimal digits.")
        }
        return result
    }

    private func text(_ bytes: [UInt8]) throws(SerializationError) -> String {
        guard let text = self.encoding.decode(bytes) else {
            throw SerializationError(.malformedBody, "the form has bytes that are not \(self.encoding).")
        }
        return text
    }

    private static func steps(of name: [UInt8]) throws(SerializationError) -> [Step] {
        guard let open = name.firstIndex(of: UInt8(ascii: "[")), open > 0 else { return [.key(name)] }
        var steps: [Step] = [.key(Array(name[..<open]))]
        var index = open
        while index < name.count {
            guard name[index] == UInt8(ascii: "["), let close = name[index...].firstIndex(of: UInt8(ascii: "]")) else {
                return [.key(name)]
            }
            let inner = name[(index + 1)..<close]
            if inner.contains(UInt8(ascii: "[")) { return [.key(name)] }
            steps.append(inner.isEmpty ? .element : .key(Array(inner)))
            guard steps.count <= Self.nestingLimit + 1 else {
                throw SerializationError(.malformedBody, "the form has names with over \(Self.nestingLimit) brackets.")
            }
            index = close + 1
        }
        return steps
    }

    // MARK: Building

    private mutating func insert(_ value: Parameter, at steps: [Step]) throws(SerializationError) {
        var current = 0
        for (offset, step) in steps.enumerated() {
            let rest = steps[(offset + 1)...]
            switch step {
            case .key(let name): current = self.child(of: current, name: name, before: rest)
            case .element: current = self.element(of: current, before: rest)
            }
            try self.checkKind(of: current, before: rest.first, in: steps)
        }
        switch self.nodes[current] {
        case .vacant: self.nodes[current] = .leaf(value)
        case .leaf(let first): self.nodes[current] = .repeated([first, value])
        case .repeated(var values):
            // Emptied first, so that the values are not copied for each one that is added.
            self.nodes[current] = .repeated([])
            values.append(value)
            self.nodes[current] = .repeated(values)
        case .array, .dictionary: preconditionFailure("BUG: a container where checkKind wants a value")
        }
    }

    private mutating func child(of parent: Int, name: [UInt8], before rest: ArraySlice<Step>) -> Int {
        guard case .dictionary(var names, var children, var index) = self.nodes[parent] else {
            preconditionFailure("BUG: a key where checkKind wants none")
        }
        if let known = index[name] { return children[known] }
        self.nodes[parent] = .emptyDictionary
        index[name] = names.count
        names.append(name)
        children.append(self.nodes.count)
        self.nodes[parent] = .dictionary(names: names, children: children, index: index)
        self.nodes.append(Self.emptyNode(before: rest.first))
        return self.nodes.count - 1
    }

    private mutating func element(of parent: Int, before rest: ArraySlice<Step>) -> Int {
        guard case .array(var elements) = self.nodes[parent] else {
            preconditionFailure("BUG: an element where checkKind wants none")
        }
        if let last = elements.last, self.canContinue(last, with: rest) { return last }
        self.nodes[parent] = .array([])
        elements.append(self.nodes.count)
        self.nodes[parent] = .array(elements)
        self.nodes.append(Self.emptyNode(before: rest.first))
        return self.nodes.count - 1
    }

    /// Whether the last element takes in what `rest` leads to, or a new element begins.
    private func canContinue(_ element: Int, with rest: ArraySlice<Step>) -> Bool {
        switch (self.nodes[element], rest.first) {
        case (.dictionary(_, let children, let index), .key(let name)):
            guard let known = index[name] else { return true }
            // `a[][x][]=1&a[][x][]=2` goes on with the same x; `a[][x][y]` only while it brings new members.
            return self.canContinue(children[known], with: rest.dropFirst())
        case (.array, .element): return true
        default: return false
        }
    }

    private static func emptyNode(before next: Step?) -> Node {
        switch next {
        case nil: .vacant
        case .element: .array([])
        case .key: .emptyDictionary
        }
    }

    private func checkKind(of node: Int, before next: Step?, in steps: [Step]) throws(SerializationError) {
        switch (self.nodes[node], next) {
        case (.vacant, nil), (.leaf, nil), (.repeated, nil), (.array, .element), (.dictionary, .key): return
        default:
            guard case .key(let name) = steps[0] else { return }
            throw SerializationError(
                .malformedBody, "the form uses “\(String(decoding: name, as: UTF8.self))” in two ways.")
        }
    }

    private func parameter(at node: Int) throws(SerializationError) -> Parameter {
        switch self.nodes[node] {
        case .vacant: return .null
        case .leaf(let value): return value
        case .repeated(let values): return .set(values)
        case .array(let elements):
            var values: [Parameter] = []
            for element in elements { values.append(try self.parameter(at: element)) }
            return .array(values)
        case .dictionary(let names, let children, _):
            var entries: [Parameter.Entry] = []
            for (name, child) in zip(names, children) {
                entries.append(Parameter.Entry(try self.text(name), try self.parameter(at: child)))
            }
            return .dictionary(entries)
        }
    }
}
