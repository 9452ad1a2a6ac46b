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
        static var element: Step { Step(start: 0, count: -1, mark: 0) }

        var start: Int32
        var count: Int32
        /// Equal for equal keys, and seldom for others.
        var mark: UInt32

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
        /// Whether its members are in the index.
        var isIndexed = false
        /// Of a leaf, in `values`.
        var value: Int32 = -1
    }

    /// All names behind each other, in UTF-8. Keys compare by these bytes: `String` would take two spellings of one
    /// character for the same name.
    private var names: [UInt8]
    private var nodes: [Node] = []
    private var values: [Parameter] = []
    private var index = MemberIndex()
    /// Those of the name at hand, the first `stepCount`.
    private var steps = Array(repeating: Step.element, count: nestingLimit + 1)
    private var stepCount = 0

    /// Makes a tree without values.
    ///
    /// - Parameters:
    ///   - names: bytes in which names are, at most `Int32.max`; only those that are inserted need be UTF-8.
    ///   - count: about how many values there will be.
    init(names: [UInt8] = [], expecting count: Int = 0) {
        self.names = names
        self.nodes.reserveCapacity(count + 16)
        self.values.reserveCapacity(count)
        self.nodes.append(Node(kind: .dictionary, key: .element, parent: -1))
    }

    /// Inserts a value under a name that need not be among those the tree was made with.
    mutating func insert(_ value: Parameter, name: String) throws(SerializationError) {
        let start = self.names.count
        self.names.append(contentsOf: name.utf8)
        try self.insert(value, name: start..<self.names.count)
    }

    /// Inserts a value under a name, which must be UTF-8.
    ///
    /// - Throws: `.malformedBody` for nesting beyond ``nestingLimit``, and a name that is used both for a value and for
    ///   a container.
    mutating func insert(_ value: Parameter, name: Range<Int>) throws(SerializationError) {
        try self.readSteps(of: name)
        var current: Int32 = 0
        for offset in 0..<self.stepCount {
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
        self.put(value, into: current)
    }

    private mutating func put(_ value: Parameter, into node: Int32) {
        let place = Int32(self.values.count)
        self.values.append(value)
        switch self.nodes[Int(node)].kind {
        case .vacant:
            self.nodes[Int(node)].kind = .leaf
            self.nodes[Int(node)].value = place
        case .leaf:
            self.nodes[Int(node)].kind = .repeated
            self.add(.leaf, .element, value: self.nodes[Int(node)].value, to: node)
            self.add(.leaf, .element, value: place, to: node)
        case .repeated: self.add(.leaf, .element, value: place, to: node)
        case .array, .dictionary: preconditionFailure("BUG: a container where a value fits")
        }
    }

    /// The whole, always a dictionary, in the order in which names first came.
    var parameter: Parameter { self.parameter(of: 0) }

    // MARK: Names

    private mutating func readSteps(of name: Range<Int>) throws(SerializationError) {
        self.stepCount = 0
        let start = name.lowerBound
        var place = self.place(of: UInt8(ascii: "["), in: name)
        self.enter(self.key(start..<place))
        if place == start { return self.enterWhole(name) }
        while place < name.upperBound {
            guard self.names[place] == UInt8(ascii: "[") else { return self.enterWhole(name) }
            let close = self.place(of: UInt8(ascii: "]"), in: place + 1..<name.upperBound)
            guard close < name.upperBound, self.place(of: UInt8(ascii: "["), in: place + 1..<close) == close else {
                return self.enterWhole(name)
            }
            guard self.stepCount <= Self.nestingLimit else {
                throw SerializationError(
                    .malformedBody, "the form has names with over \(Self.nestingLimit) brackets; nest less deeply.")
            }
            self.enter(close == place + 1 ? .element : self.key(place + 1..<close))
            place = close + 1
        }
    }

    private mutating func enter(_ step: Step) {
        self.steps[self.stepCount] = step
        self.stepCount += 1
    }

    private mutating func enterWhole(_ name: Range<Int>) {
        self.stepCount = 0
        self.enter(self.key(name))
    }

    /// The first place of `byte`, or the end.
    @inline(__always)
    private func place(of byte: UInt8, in range: Range<Int>) -> Int {
        var place = range.lowerBound
        while place < range.upperBound, self.names[place] != byte { place += 1 }
        return place
    }

    @inline(__always)
    private func key(_ range: Range<Int>) -> Step {
        var mark = UInt32(truncatingIfNeeded: range.count)
        // Names of one form differ at their ends more often than at their beginnings.
        for place in max(range.lowerBound, range.upperBound - 4)..<range.upperBound {
            mark = mark &* 257 &+ UInt32(self.names[place])
        }
        return Step(start: Int32(range.lowerBound), count: Int32(range.count), mark: mark)
    }

    private func text(_ key: Step) -> String {
        String(checkedUTF8: self.names.span.extracting(Int(key.start)..<Int(key.start + key.count)))
    }

    // MARK: Building

    /// The child called `key`, which is made if there is none.
    private mutating func member(of parent: Int32, _ key: Step, before next: Int) -> Int32 {
        guard self.nodes[Int(parent)].childCount >= MemberIndex.threshold else {
            return self.listedMember(of: parent, key) ?? self.add(self.kind(before: next), key, to: parent)
        }
        if self.nodes[Int(parent)].childCount == MemberIndex.threshold, !self.nodes[Int(parent)].isIndexed {
            self.addMembersToIndex(of: parent)
        }
        let hash = self.hash(parent, key)
        if let known = self.indexedMember(of: parent, key, hash: hash) { return known }
        let child = self.add(self.kind(before: next), key, to: parent)
        self.index.insert(child, hash: hash)
        return child
    }

    /// The last element where it takes in what follows, and else a new one.
    private mutating func element(of parent: Int32, before next: Int) -> Int32 {
        let last = self.nodes[Int(parent)].lastChild
        if last >= 0, self.canContinue(last, with: next) { return last }
        return self.add(self.kind(before: next), .element, to: parent)
    }

    @discardableResult
    private mutating func add(_ kind: Kind, _ key: Step, value: Int32 = -1, to parent: Int32) -> Int32 {
        let child = Int32(self.nodes.count)
        self.nodes.append(Node(kind: kind, key: key, parent: parent, value: value))
        var nodes = self.nodes.mutableSpan
        let last = nodes[Int(parent)].lastChild
        if last >= 0 {
            nodes[Int(last)].nextSibling = child
        } else {
            nodes[Int(parent)].firstChild = child
        }
        nodes[Int(parent)].lastChild = child
        nodes[Int(parent)].childCount += 1
        return child
    }

    /// Whether an element takes in what the steps from `next` on lead to, or a new element begins.
    private func canContinue(_ element: Int32, with next: Int) -> Bool {
        guard next < self.stepCount else { return false }
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
        guard next < self.stepCount else { return .vacant }
        return self.steps[next].isElement ? .array : .dictionary
    }

    private func fits(_ kind: Kind, before next: Int) -> Bool {
        switch kind {
        case .vacant, .leaf, .repeated: next == self.stepCount
        case .array: next < self.stepCount && self.steps[next].isElement
        case .dictionary: next < self.stepCount && !self.steps[next].isElement
        }
    }

    // MARK: Finding members

    private func existingMember(of parent: Int32, _ key: Step) -> Int32? {
        self.nodes[Int(parent)].isIndexed
            ? self.indexedMember(of: parent, key, hash: self.hash(parent, key)) : self.listedMember(of: parent, key)
    }

    private func indexedMember(of parent: Int32, _ key: Step, hash: Int) -> Int32? {
        self.index.first(hash: hash) { candidate in
            self.nodes[Int(candidate)].parent == parent && self.areEqual(self.nodes[Int(candidate)].key, key)
        }
    }

    private func listedMember(of parent: Int32, _ key: Step) -> Int32? {
        self.nodes.withUnsafeBufferPointer { nodes in
            var child = nodes[Int(parent)].firstChild
            while child >= 0 {
                if nodes[Int(child)].key.mark == key.mark, self.areEqual(nodes[Int(child)].key, key) { return child }
                child = nodes[Int(child)].nextSibling
            }
            return nil
        }
    }

    private mutating func addMembersToIndex(of parent: Int32) {
        self.nodes[Int(parent)].isIndexed = true
        var child = self.nodes[Int(parent)].firstChild
        while child >= 0 {
            self.index.insert(child, hash: self.hash(parent, self.nodes[Int(child)].key))
            child = self.nodes[Int(child)].nextSibling
        }
    }

    @inline(__always)
    private func areEqual(_ left: Step, _ right: Step) -> Bool {
        guard left.count == right.count else { return false }
        for offset in 0..<Int(left.count)
        where self.names[Int(left.start) + offset] != self.names[Int(right.start) + offset] { return false }
        return true
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

    private func parameter(of node: Int) -> Parameter {
        switch self.nodes[node].kind {
        case .vacant, .leaf: return self.nodes[node].value < 0 ? .null : self.values[Int(self.nodes[node].value)]
        case .repeated: return .set(self.children(of: node))
        case .array: return .array(self.children(of: node))
        case .dictionary:
            var entries: [Parameter.Entry] = []
            entries.reserveCapacity(Int(self.nodes[node].childCount))
            var next = Int(self.nodes[node].firstChild)
            while next >= 0 {
                entries.append(Parameter.Entry(self.text(self.nodes[next].key), self.parameter(of: next)))
                next = Int(self.nodes[next].nextSibling)
            }
            return .dictionary(entries)
        }
    }

    private func children(of node: Int) -> [Parameter] {
        var values: [Parameter] = []
        values.reserveCapacity(Int(self.nodes[node].childCount))
        var next = Int(self.nodes[node].firstChild)
        while next >= 0 {
            values.append(self.parameter(of: next))
            next = Int(self.nodes[next].nextSibling)
        }
        return values
    }
}

/// A hash table of nodes, for the members of dictionaries that have too many to look at one by one.
private struct MemberIndex {
    /// The most members that are not in the table.
    static let threshold = 24

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
