// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Finds texts in a stream of bytes that comes in pieces, all of them in one pass (Aho and Corasick, "Efficient string matching",
/// 1975).
///
/// A class, so that a search retains it once and not each of its tables.
package final class TextFinder: Sendable {
    /// A place in the stream: everything of the bytes before it that the rest depends on.
    package struct Place: Sendable, Equatable {
        fileprivate var node: Int32 = 0

        /// The beginning of a stream.
        package init() {}
    }

    /// A text that was found.
    package struct Match: Sendable, Equatable {
        /// The number of the text.
        package let text: Int
        /// Behind its last byte, counted from the beginning of the piece.
        package let end: Int
        /// The number of its bytes. More than ``end`` if it began in an earlier piece.
        package let count: Int
    }

    /// By byte; zero for bytes that no text has.
    private let classes: [UInt8]
    private let classCount: Int
    /// By node and class: the next node. Node zero is the root.
    private let steps: [Int32]
    /// By node: the number of bytes of the longest beginning of a text, but no whole one, that the stream ends with there.
    private let waits: [Int32]
    /// By node: the longest text that ends there; -1 for none.
    private let found: [Int32]
    private let lengths: [Int]
    private let skip: TextSkip
    /// The classes of the texts, if these are few and of one length; otherwise empty. Then none is a part of another, and to compare
    /// bytes with each of them is faster than the automaton.
    private let even: [[UInt8]]

    /// The most texts that are compared one by one.
    private static let mostCompared = 8

    /// - Parameters:
    ///   - texts: none is empty.
    ///   - ignoresCase: true if letters of ASCII match in either case.
    package init(_ texts: [[UInt8]], ignoresCase: Bool = false) {
        let fold: (UInt8) -> UInt8 = { ignoresCase ? ASCII.lowercased($0) : $0 }
        var classes = [UInt8](repeating: 0, count: 256)
        let bytes = Set(texts.joined().map(fold)).sorted()
        precondition(bytes.count < 256, "BUG: what has every byte is no text")
        for (number, byte) in bytes.enumerated() { classes[Int(byte)] = UInt8(number + 1) }
        for byte in UInt8.min...UInt8.max { classes[Int(byte)] = classes[Int(fold(byte))] }
        (self.classes, self.classCount) = (classes, bytes.count + 1)
        var tree = Tree(classCount: bytes.count + 1)
        for (number, text) in texts.enumerated() {
            precondition(!text.isEmpty, "BUG: an empty text is everywhere")
            tree.add(text.map { Int(classes[Int($0)]) }, as: number)
        }
        self.lengths = texts.map(\.count)
        let kinds = texts.map { text in text.map { classes[Int($0)] } }
        self.skip = TextSkip(kinds)
        self.even = kinds.count <= Self.mostCompared && Set(self.lengths).count == 1 ? kinds : []
        tree.connect()
        (self.steps, self.waits, self.found) = (tree.steps, tree.waits, tree.found)
    }

    /// The number of bytes before a place that may belong to a text of which the rest has not come.
    package func open(at place: Place) -> Int { Int(self.waits[Int(place.node)]) }

    /// True if one of the texts is in `bytes`, which are no part of something longer.
    package func isFound(in bytes: UnsafeRawBufferPointer) -> Bool { self.match(in: bytes, from: 0) != nil }

    /// Looks for a text in `bytes`, which are no part of something longer.
    ///
    /// - Parameter start: the index of the first byte to look at; no text that began before is found.
    /// - Returns: the text that ends first, the longest if there are several; nil if there is none.
    package func match(in bytes: UnsafeRawBufferPointer, from start: Int) -> Match? {
        let window = self.skip.window
        // Most fields are shorter than every text.
        guard bytes.count - start >= window else { return nil }
        return self.classes.withUnsafeBufferPointer { classes in
            var start = start
            while bytes.count - start >= window, let begin = self.skip.start(in: bytes, from: start, by: classes) {
                if self.even.isEmpty {
                    var place = Place()
                    return self.next(in: bytes, from: begin, at: &place)
                }
                let text = self.even.firstIndex { kinds in
                    kinds.indices.allSatisfy { classes[Int(bytes[begin + $0])] == kinds[$0] }
                }
                if let text { return Match(text: text, end: begin + window, count: window) }
                start = begin + 1
            }
            return nil
        }
    }

    /// Looks for the next text.
    ///
    /// - Parameters:
    ///   - start: the index in `bytes` of the first byte to look at.
    ///   - place: of that byte; afterwards of the one behind the match, or of the end.
    /// - Returns: the text that ends first, the longest if there are several; nil if none ends in these bytes.
    package func next(in bytes: UnsafeRawBufferPointer, from start: Int, at place: inout Place) -> Match? {
        var node = Int(place.node)
        defer { place.node = Int32(truncatingIfNeeded: node) }
        return self.steps.withUnsafeBufferPointer { steps in
            self.classes.withUnsafeBufferPointer { classes in
                self.found.withUnsafeBufferPointer { found in
                    var index = start
                    // Behind it no whole text begins any more, but the beginning of one.
                    let skipEnd = bytes.count - self.skip.window + 1
                    while index < bytes.count {
                        if node == 0, index < skipEnd {
                            index = self.skip.start(in: bytes, from: index, by: classes) ?? skipEnd
                        }
                        node = Int(steps[node * self.classCount + Int(classes[Int(bytes[index])])])
                        index += 1
                        guard node != 0, found[node] >= 0 else { continue }
                        let text = Int(found[node])
                        return Match(text: text, end: index, count: self.lengths[text])
                    }
                    return nil
                }
            }
        }
    }
}

extension TextFinder {
    /// The texts as a tree of their beginnings, and then the automaton.
    private struct Tree {
        private let classCount: Int
        private(set) var steps: [Int32]
        /// By node: the number of bytes from the root; once the nodes are connected, less at the end of a text.
        private(set) var waits: [Int32] = [0]
        private(set) var found: [Int32] = [-1]

        init(classCount: Int) {
            self.classCount = classCount
            self.steps = Array(repeating: 0, count: classCount)
        }

        mutating func add(_ text: [Int], as number: Int) {
            var node = 0
            for kind in text {
                let place = node * self.classCount + kind
                if self.steps[place] == 0 {
                    self.steps[place] = Int32(self.waits.count)
                    self.steps += repeatElement(0, count: self.classCount)
                    self.waits.append(self.waits[node] + 1)
                    self.found.append(-1)
                }
                node = Int(self.steps[place])
            }
            if self.found[node] < 0 { self.found[node] = Int32(number) }
        }

        /// Leads every byte that does not continue a beginning to the longest shorter beginning that it does continue.
        mutating func connect() {
            var shorter = [Int32](repeating: 0, count: self.waits.count)
            var waiting = (0..<self.classCount).map { Int(self.steps[$0]) }.filter { $0 != 0 }
            var next = 0
            while next < waiting.count {
                let node = waiting[next]
                next += 1
                let fallback = Int(shorter[node])
                if self.found[node] < 0 { self.found[node] = self.found[fallback] }
                let range = node * self.classCount..<(node + 1) * self.classCount
                if self.steps[range].allSatisfy({ $0 == 0 }) { self.waits[node] = self.waits[fallback] }
                for kind in 0..<self.classCount {
                    let place = node * self.classCount + kind
                    let other = self.steps[fallback * self.classCount + kind]
                    if self.steps[place] == 0 {
                        self.steps[place] = other
                    } else {
                        shorter[Int(self.steps[place])] = other
                        waiting.append(Int(self.steps[place]))
                    }
                }
            }
        }
    }
}
