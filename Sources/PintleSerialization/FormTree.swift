// SPDX-License-Identifier: Apache-2.0

/// Turns values with the flat names of forms into nested containers, as the brackets in the names describe.
///
/// - `a[b]` is a member of the dictionary `a`, `a[]` an element of the array `a`; both can be mixed freely.
/// - In `a[][x]` a new element begins if the last one already has an `x`; `a[][]` continues the last inner array.
/// - A name that repeats without brackets becomes a set.
/// - Brackets that are unbalanced, or at the very beginning, are part of a plain name.
struct FormTree: ~Copyable {
    /// The maximum number of pairs of brackets after a name.
    static let nestingLimit = 64

    /// The place of a text among the bytes.
    struct Piece: BitwiseCopyable {
        var start: Int32
        var count: Int32

        @inline(__always)
        init(_ range: Range<Int>) { self.init(start: Int32(range.lowerBound), count: Int32(range.count)) }

        @inline(__always)
        init(start: Int32, count: Int32) { (self.start, self.count) = (start, count) }

        @inline(__always)
        var range: Range<Int> { Int(self.start)..<Int(self.start) + Int(self.count) }
    }

    /// The way from a container to a member: a key, or the next element of an array.
    struct Step: BitwiseCopyable {
        static var element: Step { Step(key: Piece(start: 0, count: -1), end: 0) }

        /// The key; with a negative count for an element.
        var key: Piece
        /// The last eight bytes of the key, or all of a shorter one: names of one form differ more often at their ends than
        /// at their beginnings.
        var end: UInt64

        @inline(__always)
        var isElement: Bool { self.key.count < 0 }

        /// One bit, derived from the end of the key.
        @inline(__always)
        var bit: UInt64 { 1 &<< (self.end &* 0x9E37_79B9_7F4A_7C15 &>> 58) }
    }

    enum Leaf: BitwiseCopyable {
        case null
        case text(Piece)
        /// The index of another value in `values`.
        case value(Int32)
    }

    enum Kind: BitwiseCopyable {
        /// A new leaf; its value follows.
        case vacant
        case leaf
        /// Several leaves with the same name.
        case repeated
        case array
        case dictionary

        /// True if a node of this kind can also hold what a name with a node of kind `other` puts there.
        @inline(__always)
        func takesIn(_ other: Kind) -> Bool {
            switch other {
            case .vacant, .leaf, .repeated: self == .vacant || self == .leaf || self == .repeated
            case .array, .dictionary: self == other
            }
        }
    }

    /// A node. Nodes refer to each other by their index in `nodes`, so that reading deep trees needs no recursion, and a
    /// node no allocation of its own.
    struct Node: BitwiseCopyable {
        var kind: Kind
        /// True if its members are in the index.
        var isIndexed = false
        var leaf = Leaf.null
        var parent: Int32
        var firstChild: Int32 = -1
        var lastChild: Int32 = -1
        var nextSibling: Int32 = -1
        var childCount: Int32 = 0
        /// One bit for each key of its members; several keys may share one.
        var keys: UInt64 = 0
        /// The member that was found last, which is often the next one, too; -1 before the first search.
        var found: Int32 = -1
        /// The key of this node in its parent.
        var step: Step
    }

    /// All names and texts, in UTF-8. Keys are compared as these bytes: `String` would treat two spellings of one character
    /// as the same name.
    private var bytes: ByteWriter
    private var nodes: OwnedList<Node>
    private var values: [Parameter] = []
    private var index = MemberIndex()
    /// The steps of the current name.
    private var steps = OwnedList<Step>(reserving: 8)

    /// Makes a tree without values.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of names and texts, at most `Int32.max`; only those that are inserted must be UTF-8.
    ///   - count: the approximate number of values.
    init(bytes: consuming ByteWriter = ByteWriter(reserving: 1024), expecting count: Int = 0) {
        self.bytes = bytes
        self.nodes = OwnedList(reserving: 2 * count + 16)
        self.nodes.append(Node(kind: .dictionary, parent: -1, step: .element))
    }

    /// Adds a text to the bytes, for names and values that are not among the initial bytes.
    mutating func add(_ text: String) throws(SerializationError) -> Range<Int> {
        guard text.utf8.count <= Int(Int32.max) - self.bytes.count else {
            throw SerializationError(.malformedBody, "the form has more than 2 GiB of text; send less.")
        }
        let start = self.bytes.count
        self.bytes.append(text)
        return start..<self.bytes.count
    }

    /// True if the bytes in `range` are UTF-8.
    func isUTF8(_ range: Range<Int>) -> Bool {
        self.bytes.withBytes(range) { (try? UTF8Span(validating: $0.span)) != nil }
    }

    /// Calls `body` with the bytes in `range`.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        self.bytes.withBytes(range, body)
    }

    /// Inserts a value under a name.
    mutating func insert(_ value: Parameter, name: String) throws(SerializationError) {
        self.values.append(value)
        let leaf = Leaf.value(Int32(self.values.count - 1))
        try self.insert(leaf, name: try self.add(name))
    }

    /// Inserts text, or null, under a name. Both must be UTF-8 among the bytes.
    ///
    /// - Throws: `.malformedBody` for nesting beyond ``nestingLimit``, and for a name that is used both for a value and for
    ///   a container.
    mutating func insert(text: Range<Int>?, name: Range<Int>) throws(SerializationError) {
        try self.insert(text.map { .text(Piece($0)) } ?? .null, name: name)
    }

    @inline(__always)
    private mutating func insert(_ leaf: Leaf, name: Range<Int>) throws(SerializationError) {
        try self.readSteps(of: name)
        var current: Int32 = 0
        var isNew = false
        for offset in 0..<self.steps.count {
            let step = self.steps[offset]
            let kind = self.kind(before: offset + 1)
            // A new node has no members yet.
            let known = isNew ? -1 : self.known(step, of: current, before: offset + 1)
            guard known >= 0 else {
                current = self.add(kind, step, to: current)
                isNew = true
                continue
            }
            current = known
            guard self.nodes[Int(known)].kind.takesIn(kind) else {
                throw SerializationError(
                    .malformedBody,
                    "the form uses “\(self.text(self.steps[0].key))” in two ways; use one name for one kind of value.")
            }
        }
        self.put(leaf, into: current)
    }

    private mutating func put(_ leaf: Leaf, into node: Int32) {
        switch self.nodes[Int(node)].kind {
        case .vacant:
            self.nodes[Int(node)].kind = .leaf
            self.nodes[Int(node)].leaf = leaf
        case .leaf:
            let first = self.nodes[Int(node)].leaf
            self.nodes[Int(node)].kind = .repeated
            self.add(.leaf, .element, first, to: node)
            self.add(.leaf, .element, leaf, to: node)
        case .repeated: self.add(.leaf, .element, leaf, to: node)
        case .array, .dictionary: preconditionFailure("BUG: a container where a value fits")
        }
    }

    /// The whole tree, always a dictionary; names are in the order of their first use.
    var parameter: Parameter { self.parameter(of: 0) }

    // MARK: Names

    private mutating func readSteps(of name: Range<Int>) throws(SerializationError) {
        self.steps.removeAll()
        let start = name.lowerBound
        var place = self.place(of: UInt8(ascii: "["), in: name)
        self.steps.append(self.key(start..<place))
        if place == start { return self.enterWhole(name) }
        while place < name.upperBound {
            guard self.bytes[place] == UInt8(ascii: "[") else { return self.enterWhole(name) }
            let close = self.closingBracket(in: place + 1..<name.upperBound)
            guard let close else { return self.enterWhole(name) }
            guard self.steps.count <= Self.nestingLimit else {
                throw SerializationError(
                    .malformedBody, "the form has names with over \(Self.nestingLimit) brackets; nest less deeply.")
            }
            self.steps.append(close == place + 1 ? .element : self.key(place + 1..<close))
            place = close + 1
        }
    }

    private mutating func enterWhole(_ name: Range<Int>) {
        self.steps.removeAll()
        self.steps.append(self.key(name))
    }

    /// Returns the first place of `byte`, or the end of `range`.
    @inline(__always)
    private func place(of byte: UInt8, in range: Range<Int>) -> Int {
        self.bytes.withBytes(range) { bytes in
            var place = 0
            while place < bytes.count, bytes[place] != byte { place += 1 }
            return range.lowerBound + place
        }
    }

    /// Returns the place of the first closing bracket; nil if there is none or another one opens before it.
    @inline(__always)
    private func closingBracket(in range: Range<Int>) -> Int? {
        self.bytes.withBytes(range) { bytes in
            for place in 0..<bytes.count {
                if bytes[place] == UInt8(ascii: "]") { return range.lowerBound + place }
                if bytes[place] == UInt8(ascii: "[") { return nil }
            }
            return nil
        }
    }

    @inline(__always)
    private func key(_ range: Range<Int>) -> Step {
        Step(key: Piece(range), end: self.bytes.end(of: range))
    }

    private func text(_ piece: Piece) -> String {
        self.bytes.withBytes(piece.range) { String(checkedUTF8: $0.span) }
    }

    // MARK: Building

    /// Returns the child for a step (for an element, the last one if it can continue); -1 if a new child is needed.
    @inline(__always)
    private mutating func known(_ step: Step, of parent: Int32, before next: Int) -> Int32 {
        guard step.isElement else { return self.member(of: parent, step) }
        let last = self.nodes[Int(parent)].lastChild
        return last >= 0 && self.canContinue(last, with: next) ? last : -1
    }

    @discardableResult
    private mutating func add(_ kind: Kind, _ step: Step, _ leaf: Leaf = .null, to parent: Int32) -> Int32 {
        let child = Int32(self.nodes.count)
        self.nodes.append(Node(kind: kind, leaf: leaf, parent: parent, step: step))
        let last = self.nodes[Int(parent)].lastChild
        if last >= 0 {
            self.nodes[Int(last)].nextSibling = child
        } else {
            self.nodes[Int(parent)].firstChild = child
        }
        self.nodes[Int(parent)].lastChild = child
        self.nodes[Int(parent)].childCount += 1
        self.nodes[Int(parent)].keys |= step.bit
        if self.nodes[Int(parent)].isIndexed {
            self.index.insert(child, hash: self.hash(parent, step))
        } else if self.nodes[Int(parent)].childCount > MemberIndex.threshold, !step.isElement {
            self.addMembersToIndex(of: parent)
        }
        return child
    }

    /// True if an element can hold what the steps from `next` on lead to; false if a new element must begin.
    private mutating func canContinue(_ element: Int32, with next: Int) -> Bool {
        guard next < self.steps.count else { return false }
        switch (self.nodes[Int(element)].kind, self.steps[next].isElement) {
        case (.dictionary, false):
            let known = self.member(of: element, self.steps[next])
            guard known >= 0 else { return true }
            // `a[][x][]=1&a[][x][]=2` continues the same x; `a[][x][y]` does so only while it brings new members.
            return self.canContinue(known, with: next + 1)
        case (.array, true): return true
        default: return false
        }
    }

    private func kind(before next: Int) -> Kind {
        guard next < self.steps.count else { return .vacant }
        return self.steps[next].isElement ? .array : .dictionary
    }

    // MARK: Finding members

    /// Returns the child with the key of `step`, or -1.
    @inline(__always)
    private mutating func member(of parent: Int32, _ step: Step) -> Int32 {
        // Most names in a form are new; most of the others continue what the name before them began.
        if self.nodes[Int(parent)].keys & step.bit == 0 { return -1 }
        let found = self.nodes[Int(parent)].found
        if found >= 0, self.areEqual(self.nodes[Int(found)].step, step) { return found }
        return self.searchedMember(of: parent, step)
    }

    private mutating func searchedMember(of parent: Int32, _ step: Step) -> Int32 {
        let child =
            self.nodes[Int(parent)].isIndexed
            ? self.indexedMember(of: parent, step) : self.listedMember(of: parent, step)
        if child >= 0 { self.nodes[Int(parent)].found = child }
        return child
    }

    private func listedMember(of parent: Int32, _ step: Step) -> Int32 {
        var child = self.nodes[Int(parent)].firstChild
        while child >= 0, !self.areEqual(self.nodes[Int(child)].step, step) {
            child = self.nodes[Int(child)].nextSibling
        }
        return child
    }

    private func indexedMember(of parent: Int32, _ step: Step) -> Int32 {
        self.index.first(hash: self.hash(parent, step)) { candidate in
            self.nodes[Int(candidate)].parent == parent && self.areEqual(self.nodes[Int(candidate)].step, step)
        } ?? -1
    }

    private mutating func addMembersToIndex(of parent: Int32) {
        self.nodes[Int(parent)].isIndexed = true
        var child = self.nodes[Int(parent)].firstChild
        while child >= 0 {
            self.index.insert(child, hash: self.hash(parent, self.nodes[Int(child)].step))
            child = self.nodes[Int(child)].nextSibling
        }
    }

    @inline(__always)
    private func areEqual(_ left: Step, _ right: Step) -> Bool {
        left.end == right.end && left.key.count == right.key.count
            && (left.key.count <= 8 || self.areEqual(left.key, right.key))
    }

    private func areEqual(_ left: Piece, _ right: Piece) -> Bool {
        self.bytes.withBytes(left.range) { left in self.bytes.withBytes(right.range) { left.elementsEqual($0) } }
    }

    /// Seeded for this process, so that a client cannot choose names with equal hashes.
    private func hash(_ parent: Int32, _ step: Step) -> Int {
        var hasher = Hasher()
        hasher.combine(parent)
        self.bytes.withBytes(step.key.range) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }

    // MARK: Result

    private func parameter(of node: Int) -> Parameter {
        switch self.nodes[node].kind {
        case .vacant: .null
        case .leaf: self.value(of: self.nodes[node].leaf)
        case .repeated: .set(self.children(of: node))
        case .array: .array(self.children(of: node))
        case .dictionary: .dictionary(self.entries(of: node))
        }
    }

    @inline(__always)
    private func value(of leaf: Leaf) -> Parameter {
        switch leaf {
        case .null: .null
        case .text(let piece): .string(self.text(piece))
        case .value(let place): self.values[Int(place)]
        }
    }

    private func entries(of node: Int) -> [Parameter.Entry] {
        var entries: [Parameter.Entry] = []
        entries.reserveCapacity(Int(self.nodes[node].childCount))
        var next = Int(self.nodes[node].firstChild)
        while next >= 0 {
            entries.append(Parameter.Entry(self.text(self.nodes[next].step.key), self.parameter(of: next)))
            next = Int(self.nodes[next].nextSibling)
        }
        return entries
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
