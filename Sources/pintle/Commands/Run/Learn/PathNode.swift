// SPDX-License-Identifier: Apache-2.0

/// A segment of the observed paths, with the segments that follow it.
///
/// Many siblings are merged into one, `*`. If there is no room for more, everything below is merged into `**`. So a path
/// always leads to the same node, which depends only on its segments.
struct PathNode: Sendable {
    /// One pattern, with the responses to its requests by method.
    struct Leaf: Sendable {
        let pattern: String
        let answers: [String: LearnedAnswers]
    }

    /// The maximum number of siblings before they are merged.
    static let mostSiblings = 16
    /// The maximum depth in segments; longer paths are not distinguished below it.
    private static let deepest = 24
    /// The maximum number of bytes from a pattern's first star on: a configuration accepts 127, and `/**` may follow.
    private static let longestTail = 120

    private var children: [String: PathNode] = [:]
    /// True if the siblings are merged.
    private var isCrowded = false
    /// True if everything below is merged.
    private var isDeep = false
    /// The responses for paths that end here.
    private var answers: [String: LearnedAnswers] = [:]
    /// The responses for longer paths, if these are merged.
    private var below: [String: LearnedAnswers] = [:]

    /// Adds a response.
    ///
    /// - Parameters:
    ///   - path: the segments after this one.
    ///   - method: the method; there must be few of them, because each has its own responses in a node.
    ///   - depth: the number of segments before.
    ///   - note: updates the responses.
    mutating func note(
        _ path: ArraySlice<Substring>, _ method: String, _ room: inout LearningLimits, depth: Int = 0,
        _ note: (inout LearnedAnswers, inout LearningLimits) -> Void
    ) {
        guard let segment = path.first else { return Self.add(to: &self.answers, method, &room, note) }
        var key = SegmentShape.pattern(segment)
        if self.isCrowded, !key.isEmpty { key = "*" }
        if !self.isDeep, self.children[key] == nil {
            if depth >= Self.deepest || room.segments <= 0 {
                if room.segments <= 0 { room.isShort = true }
                self.deepen(&room)
            } else {
                room.segments -= 1
                self.children[key] = PathNode()
            }
        }
        if self.isDeep { return Self.add(to: &self.below, method, &room, note) }
        self.children[key]?.note(path.dropFirst(), method, &room, depth: depth + 1, note)
        self.crowd(&room)
    }

    private static func add(
        to answers: inout [String: LearnedAnswers], _ method: String, _ room: inout LearningLimits,
        _ note: (inout LearnedAnswers, inout LearningLimits) -> Void
    ) {
        note(&answers[method, default: LearnedAnswers()], &room)
    }

    private static func merge(
        _ more: [String: LearnedAnswers], into answers: inout [String: LearnedAnswers], _ room: inout LearningLimits
    ) {
        for method in more.keys.sorted() {
            guard let other = more[method] else { continue }
            self.add(to: &answers, method, &room) { $0.merge(other, &$1) }
        }
    }

    // MARK: Siblings and depths

    /// Merges the siblings if they are too many.
    private mutating func crowd(_ room: inout LearningLimits) {
        guard !self.isCrowded, self.children.keys.count(where: { $0 != "" && $0 != "*" }) > Self.mostSiblings else {
            return
        }
        self.isCrowded = true
        self.gather(&room)
    }

    private mutating func gather(_ room: inout LearningLimits) {
        var star = self.children["*"] ?? PathNode()
        for key in self.children.keys.sorted() where key != "" && key != "*" {
            if let child = self.children.removeValue(forKey: key) {
                room.segments += 1
                star.merge(child, &room)
            }
        }
        self.children["*"] = star
    }

    /// Merges everything below.
    private mutating func deepen(_ room: inout LearningLimits) {
        guard !self.isDeep else { return }
        self.isDeep = true
        for key in self.children.keys.sorted() { self.children[key]?.fold(into: &self.below, &room) }
        self.children = [:]
    }

    private mutating func fold(into answers: inout [String: LearnedAnswers], _ room: inout LearningLimits) {
        room.segments += 1
        self.deepen(&room)
        Self.merge(self.answers, into: &answers, &room)
        Self.merge(self.below, into: &answers, &room)
    }

    private mutating func merge(_ other: PathNode, _ room: inout LearningLimits) {
        var other = other
        Self.merge(other.answers, into: &self.answers, &room)
        if self.isDeep || other.isDeep {
            self.deepen(&room)
            other.deepen(&room)
            return Self.merge(other.below, into: &self.below, &room)
        }
        for key in other.children.keys.sorted() {
            guard let child = other.children[key] else { continue }
            if self.children[key] == nil {
                self.children[key] = child
            } else {
                room.segments += 1
                self.children[key]?.merge(child, &room)
            }
        }
        self.isCrowded = self.isCrowded || other.isCrowded
        if self.isCrowded { self.gather(&room) } else { self.crowd(&room) }
    }

    /// Merges everything below a segment: for paths that servers may read in different ways from there on.
    ///
    /// - Parameter path: the segments up to there.
    mutating func join(below path: ArraySlice<Substring>, _ room: inout LearningLimits) {
        guard let segment = path.first, !self.isDeep else { return self.deepen(&room) }
        let key = self.isCrowded ? "*" : SegmentShape.pattern(segment)
        guard room.segments > 0 || self.children[key] != nil else { return self.deepen(&room) }
        if self.children[key] == nil { room.segments -= 1 }
        self.children[key, default: PathNode()].join(below: path.dropFirst(), &room)
        self.crowd(&room)
    }

    // MARK: Patterns

    /// The patterns, in an order in which the first match is the right one: literal segments before stars, segment by
    /// segment.
    var leaves: [Leaf] {
        var leaves: [Leaf] = []
        self.add(to: &leaves, "")
        return leaves
    }

    private func add(to leaves: inout [Leaf], _ prefix: String) {
        if !self.answers.isEmpty { leaves.append(Leaf(pattern: prefix, answers: self.answers)) }
        guard !self.children.keys.contains(where: { "\(prefix)/\($0)".tail > Self.longestTail }) else {
            var (joined, room) = (self, LearningLimits())
            joined.answers = [:]
            joined.deepen(&room)
            return joined.add(to: &leaves, prefix)
        }
        let keys = self.children.keys.sorted { left, right in
            (left.stars, left) < (right.stars, right)
        }
        for key in keys { self.children[key]?.add(to: &leaves, "\(prefix)/\(key)") }
        if !self.below.isEmpty { leaves.append(Leaf(pattern: "\(prefix)/**", answers: self.below)) }
    }
}

extension String {
    /// The rank of a segment: 0 for a literal, 1 for `*.json`, 2 for `*`.
    fileprivate var stars: Int { self == "*" ? 2 : self.hasPrefix("*") ? 1 : 0 }

    /// The number of bytes from the first star on.
    fileprivate var tail: Int {
        self.utf8.firstIndex(of: UInt8(ascii: "*")).map { self.utf8[$0...].count } ?? 0
    }
}
