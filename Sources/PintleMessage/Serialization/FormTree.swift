// SPDX-License-Identifier: Apache-2.0

/// Puts values with flat names, as forms have them, back into the containers that the names tell of.
///
/// - `a[b]` is a member of the dictionary `a`, `a[]` an element of the array `a`, to any mixture of the two.
/// - In `a[][x]` a new element begins where the last one already has an `x`; `a[][]` goes on with the last inner array.
/// - A name that repeats without brackets becomes a set.
/// - Brackets that are out of order, or that nothing precedes, are part of a plain name.
struct FormTree {
    /// The most pairs of brackets after a name.
    static let nestingLimit = 64

    /// From a container to a member: a key by where it is among the names, or the element of an array.
    private struct Step {
        static let element = Step(start: 0, count: -1)

        var start: Int32
        var count: Int32

        var isElement: Bool { self.count < 0 }
    }

    private enum Kind {
        /// A leaf that has just been made and gets its value next.
        case vacant
        case leaf
        /// Leaves of one name.
        case repeated
        case array
        case dictionary
    }

    /// Nodes refer to each other by their place in `nodes`, so that depth costs no recursion while reading and a node no
    /// allocation of its own.
    private struct Node {
        var kind: Kind
        /// What its parent calls it.
        var key: Step
        var parent: Int32
        var firstChild: Int32 = -1
        var lastChild: Int32 = -1
        var nextSibling: Int32 = -1
        var childCount: Int32 = 0
        var value = Parameter.null
    }

    /// All names behind each other, in UTF-8. Keys compare by these bytes: `String` would take two spellings of one
    /// character for the same name.
    private var names: [UInt8]
    private var nodes: [Node] = []
    private var index = MemberIndex()
    /// Those of the name at hand; kept for its memory.
    private var steps: [Step] = []

    /// Makes a tree without values.
    ///
    /// - Parameters:
    ///   - names: bytes in which names are, at most `Int32.max`; only those that are inserted need be UTF-8.
    ///   - count: about how many values there will be.
    init(names: [UInt8] = [], expecting count: Int = 0) {
        self.names = names
        self.nodes.reserveCapacity(count + 1)
        self.nodes.append(Node(kind: .dictionary, key: .element, parent: -1))
    }

    /// Inserts a value under a name that need not be among those the tree was made with.
    mutating func insert(_ value: Parameter, name: String) throws(SerializationError) {
        let start = self.names.count
        self.names.append(contentsOf: name.utf8)
        try self.insert(value, name: start..<self.names.count)
    }

    /// Inserts a value under a name.
    ///
    /// - Throws: `.malformedBody` for nesting beyond ``nestingLimit``, and a name that is used both for a value and for
    ///   a container.
    mutating func insert(_ value: Parameter, name: Range<Int>) throws(SerializationError) {
        try self.readSteps(of: name)
        var current: Int32 = 0
        for offset in self.steps.indices {
            let step = self.steps[offset]
            current =
                step.isElement
                ? self.element(of: current, before: offset + 1) : self.member(of: current, step, before: offset + 1)
            guard self.fits(self.nodes[Int(current)].kind, before: offset + 1) else {
                throw SerializationError(
                    .malformedBody,
                    "the form uses “\(self.text(self.steps[0]))” in two ways; use one name for one kind of value.")
            }
        }
        switch self.nodes[Int(current)].kind {
        case .vacant:
            self.nodes[Int(current)].kind = .leaf
            self.nodes[Int(current)].value = value
        case .leaf:
            let first = self.nodes[Int(current)].value
            self.nodes[Int(current)].kind = .repeated
            self.nodes[Int(current)].value = .null
            self.add(.leaf, .element, first, to: current)
            self.add(.leaf, .element, value, to: current)
        case .repeated: self.add(.leaf, .element, value, to: current)
        case .array, .dictionary: preconditionFailure("BUG: a container where a value fits")
        }
    }

    /// The whole, always a dictionary, in the order in which names first came.
    var parameter: Parameter { self.parameter(of: self.nodes[0]) }

    // MARK: Names

    private mutating func readSteps(of name: Range<Int>) throws(SerializationError) {
        self.steps.removeAll(keepingCapacity: true)
        let whole = Step(start: Int32(name.lowerBound), count: Int32(name.count))
        guard let open = self.place(of: UInt8(ascii: "["), in: name), open > name.lowerBound else {
            self.steps.append(whole)
            return
        }
        self.steps.append(Step(start: whole.start, count: Int32(open - name.lowerBound)))
        var place = open
        while place < name.upperBound {
            guard self.names[place] == UInt8(ascii: "["),
                let close = self.place(of: UInt8(ascii: "]"), in: place + 1..<name.upperBound),
                self.place(of: UInt8(ascii: "["), in: place + 1..<close) == nil
            else {
                self.steps.removeAll(keepingCapacity: true)
                self.steps.append(whole)
                return
            }
            let count = close - place - 1
            self.steps.append(count == 0 ? .element : Step(start: Int32(place + 1), count: Int32(count)))
            guard self.steps.count <= Self.nestingLimit + 1 else {
                throw SerializationError(
                    .malformedBody, "the form has names with over \(Self.nestingLimit) brackets; nest less deeply.")
            }
            place = close + 1
        }
    }

    private func place(of byte: UInt8, in range: Range<Int>) -> Int? {
        self.names.withUnsafeBytes { all in
            UnsafeRawBufferPointer(rebasing: all[range]).firstIndex(of: byte, from: 0).map { $0 + range.lowerBound }
        }
    }

    private func text(_ key: Step) -> String {
        self.names.withUnsafeBufferPointer { all in
            String(decoding: all[Int(key.start)..<Int(key.start + key.count)], as: UTF8.self)
        }
    }

    // MARK: Building

    /// The child called `key`, which is made if there is none.
    private mutating func member(of parent: Int32, _ key: Step, before next: Int) -> Int32 {
        if let known = self.existingMember(of: parent, key) { return known }
        let child = self.add(self.kind(before: next), key, .null, to: parent)
        let count = Int(self.nodes[Int(parent)].childCount)
        if count == MemberIndex.threshold + 1 {
            var sibling = self.nodes[Int(parent)].firstChild
            while sibling >= 0 {
                self.addToIndex(sibling)
                sibling = self.nodes[Int(sibling)].nextSibling
            }
        } else if count > MemberIndex.threshold {
            self.addToIndex(child)
        }
        return child
    }

    /// The last element where it takes in what follows, and else a new one.
    private mutating func element(of parent: Int32, before next: Int) -> Int32 {
        let last = self.nodes[Int(parent)].lastChild
        if last >= 0, self.canContinue(last, with: next) { return last }
        return self.add(self.kind(before: next), .element, .null, to: parent)
    }

    @discardableResult
    private mutating func add(_ kind: Kind, _ key: Step, _ value: Parameter, to parent: Int32) -> Int32 {
        let child = Int32(self.nodes.count)
        self.nodes.append(Node(kind: kind, key: key, parent: parent, value: value))
        let last = self.nodes[Int(parent)].lastChild
        if last >= 0 {
            self.nodes[Int(last)].nextSibling = child
        } else {
            self.nodes[Int(parent)].firstChild = child
        }
        self.nodes[Int(parent)].lastChild = child
        self.nodes[Int(parent)].childCount += 1
        return child
    }

    /// Whether an element takes in what the steps from `next` on lead to, or a new element begins.
    private func canContinue(_ element: Int32, with next: Int) -> Bool {
        guard next < self.steps.count else { return false }
        switch (self.nodes[Int(element)].kind, self.steps[next].isElement) {
        case (.dictionary, false):
            guard let known = self.existingMember(of: element, self.steps[next]) else { return true }
            // `a[][x][]=1&a[][x][]=2` goes on with the same x; `a[][x][y]` only while it brings new members.
            return self.canContinue(known, with: next + 1)
        case (.array, true): return true
        default: return false
        }
    }

    private func kind(before next: Int) -> Kind {
        guard next < self.steps.count else { return .vacant }
        return self.steps[next].isElement ? .array : .dictionary
    }

    private func fits(_ kind: Kind, before next: Int) -> Bool {
        switch kind {
        case .vacant, .leaf, .repeated: next == self.steps.count
        case .array: next < self.steps.count && self.steps[next].isElement
        case .dictionary: next < self.steps.count && !self.steps[next].isElement
        }
    }

    // MARK: Finding members

    private func existingMember(of parent: Int32, _ key: Step) -> Int32? {
        guard self.nodes[Int(parent)].childCount <= MemberIndex.threshold else {
            return self.index.first(hash: self.hash(parent, key)) { candidate in
                self.nodes[Int(candidate)].parent == parent && self.areEqual(self.nodes[Int(candidate)].key, key)
            }
        }
        var child = self.nodes[Int(parent)].firstChild
        while child >= 0, !self.areEqual(self.nodes[Int(child)].key, key) {
            child = self.nodes[Int(child)].nextSibling
        }
        return child >= 0 ? child : nil
    }

    private mutating func addToIndex(_ node: Int32) {
        let member = self.nodes[Int(node)]
        self.index.insert(node, hash: self.hash(member.parent, member.key))
    }

    private func areEqual(_ left: Step, _ right: Step) -> Bool {
        guard left.count == right.count else { return false }
        return self.names.withUnsafeBufferPointer { all in
            for offset in 0..<Int(left.count)
            where all[Int(left.start) + offset] != all[Int(right.start) + offset] { return false }
            return true
        }
    }

    /// With the seed of the process: nobody can choose names that all fall into one place.
    private func hash(_ parent: Int32, _ key: Step) -> Int {
        var hasher = Hasher()
        hasher.combine(parent)
        self.names.withUnsafeBytes { all in
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: all[Int(key.start)..<Int(key.start + key.count)]))
        }
        return hasher.finalize()
    }

    // MARK: Result

    private func parameter(of node: Node) -> Parameter {
        switch node.kind {
        case .vacant, .leaf: return node.value
        case .repeated: return .set(self.children(of: node))
        case .array: return .array(self.children(of: node))
        case .dictionary:
            var entries: [Parameter.Entry] = []
            entries.reserveCapacity(Int(node.childCount))
            var next = node.firstChild
            while next >= 0 {
                let child = self.nodes[Int(next)]
                entries.append(Parameter.Entry(self.text(child.key), self.parameter(of: child)))
                next = child.nextSibling
            }
            return .dictionary(entries)
        }
    }

    private func children(of node: Node) -> [Parameter] {
        var values: [Parameter] = []
        values.reserveCapacity(Int(node.childCount))
        var next = node.firstChild
        while next >= 0 {
            let child = self.nodes[Int(next)]
            values.append(self.parameter(of: child))
            next = child.nextSibling
        }
        return values
    }
}

/// A hash table of nodes, for the members of dictionaries that have too many to look at one by one.
private struct MemberIndex {
    /// The most members that are not in the table.
    static let threshold = 8

    private struct Slot {
        var node: Int32 = -1
        var hash = 0
    }

    private var slots: [Slot] = []
    private var count = 0

    func first(hash: Int, where matches: (Int32) -> Bool) -> Int32? {
        guard !self.slots.isEmpty else { return nil }
        var place = hash & (self.slots.count - 1)
        while self.slots[place].node >= 0 {
            if self.slots[place].hash == hash, matches(self.slots[place].node) { return self.slots[place].node }
            place = (place + 1) & (self.slots.count - 1)
        }
        return nil
    }

    mutating func insert(_ node: Int32, hash: Int) {
        if (self.count + 1) * 2 > self.slots.count {
            let old = self.slots
            self.slots = Array(repeating: Slot(), count: max(64, old.count * 2))
            for slot in old where slot.node >= 0 { self.place(slot) }
        }
        self.count += 1
        self.place(Slot(node: node, hash: hash))
    }

    private mutating func place(_ slot: Slot) {
        var place = slot.hash & (self.slots.count - 1)
        while self.slots[place].node >= 0 { place = (place + 1) & (self.slots.count - 1) }
        self.slots[place] = slot
    }
}
