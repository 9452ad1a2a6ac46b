// SPDX-License-Identifier: Apache-2.0

/// A segment of the paths that were seen, with what came behind it.
///
/// Many siblings become one, `*`, and where there is no room for more everything below becomes `**`. So a path always leads to
/// one node, by its segments alone.
struct PathNode: Sendable {
    /// One pattern, and the answers to its requests by method.
    struct Leaf: Sendable {
        let pattern: String
        let answers: [String: LearnedAnswers]
    }

    /// More siblings than these are one.
    static let mostSiblings = 16
    /// Longer paths are not told apart beyond it, in segments.
    private static let deepest = 24
    /// The most bytes from a pattern's first star on: a configuration takes 127, and `/**` may follow.
    private static let longestTail = 120

    private var children: [String: PathNode] = [:]
    /// True where siblings are one.
    private var isCrowded = false
    /// True where everything below is one.
    private var isDeep = false
    /// To paths that end here.
    private var answers: [String: LearnedAnswers] = [:]
    /// To paths that go on, where they are one.
    private var below: [String: LearnedAnswers] = [:]

    /// Notes an answer.
    ///
    /// - Parameters:
    ///   - path: the segments behind this one.
    ///   - method: one of few: a node has answers for each.
    ///   - depth: how many there are before.
    ///   - note: adds to the answers.
    mutating func note(
        _ path: ArraySlice<Substring>, _ method: String, _ room: inout LearningRoom, depth: Int = 0,
        _ note: (inout LearnedAnswers, inout LearningRoom) -> Void
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
        to answers: inout [String: LearnedAnswers], _ method: String, _ room: inout LearningRoom,
        _ note: (inout LearnedAnswers, inout LearningRoom) -> Void
    ) {
        note(&answers[method, default: LearnedAnswers()], &room)
    }

    private static func merge(
        _ more: [String: LearnedAnswers], into answers: inout [String: LearnedAnswers], _ room: inout LearningRoom
    ) {
        for method in more.keys.sorted() {
            guard let other = more[method] else { continue }
            self.add(to: &answers, method, &room) { $0.merge(other, &$1) }
        }
    }

    // MARK: Siblings and depths

    /// Makes siblings one, where they are many.
    private mutating func crowd(_ room: inout LearningRoom) {
        guard !self.isCrowded, self.children.keys.count(where: { $0 != "" && $0 != "*" }) > Self.mostSiblings else {
            return
        }
        self.isCrowded = true
        self.gather(&room)
    }

    private mutating func gather(_ room: inout LearningRoom) {
        var star = self.children["*"] ?? PathNode()
        for key in self.children.keys.sorted() where key != "" && key != "*" {
            if let child = self.children.removeValue(forKey: key) {
                room.segments += 1
                star.merge(child, &room)
            }
        }
        self.children["*"] = star
    }

    /// Makes everything below one.
    private mutating func deepen(_ room: inout LearningRoom) {
        guard !self.isDeep else { return }
        self.isDeep = true
        for key in self.children.keys.sorted() { self.children[key]?.fold(into: &self.below, &room) }
        self.children = [:]
    }

    private mutating func fold(into answers: inout [String: LearnedAnswers], _ room: inout LearningRoom) {
        room.segments += 1
        self.deepen(&room)
        Self.merge(self.answers, into: &answers, &room)
        Self.merge(self.below, into: &answers, &room)
    }

    private mutating func merge(_ other: PathNode, _ room: inout LearningRoom) {
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

    /// Makes everything one that lies below a place: for paths that servers read differently from there on.
    ///
    /// - Parameter path: the segments down to there.
    mutating func join(below path: ArraySlice<Substring>, _ room: inout LearningRoom) {
        guard let segment = path.first, !self.isDeep else { return self.deepen(&room) }
        let key = self.isCrowded ? "*" : SegmentShape.pattern(segment)
        guard room.segments > 0 || self.children[key] != nil else { return self.deepen(&room) }
        if self.children[key] == nil { room.segments -= 1 }
        self.children[key, default: PathNode()].join(below: path.dropFirst(), &room)
        self.crowd(&room)
    }

    // MARK: Patterns

    /// The patterns in the order in which the first that matches is the right one: words before stars, segment by segment.
    var leaves: [Leaf] {
        var leaves: [Leaf] = []
        self.add(to: &leaves, "")
        return leaves
    }

    private func add(to leaves: inout [Leaf], _ prefix: String) {
        if !self.answers.isEmpty { leaves.append(Leaf(pattern: prefix, answers: self.answers)) }
        guard !self.children.keys.contains(where: { "\(prefix)/\($0)".tail > Self.longestTail }) else {
            var (joined, room) = (self, LearningRoom())
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
    /// 0 for a word, 1 for `*.json`, 2 for `*`.
    fileprivate var stars: Int { self == "*" ? 2 : self.hasPrefix("*") ? 1 : 0 }

    /// The bytes from the first star on.
    fileprivate var tail: Int {
        self.utf8.firstIndex(of: UInt8(ascii: "*")).map { self.utf8[$0...].count } ?? 0
    }
}
