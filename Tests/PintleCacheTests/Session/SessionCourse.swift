// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// A course of events for the session of one key, drawn at random: everything that is needed to play it again.
///
/// A number in an event counts the things of its kind that exist at the time; so a course without some of its events is still
/// a course.
struct SessionCourse: Sendable {
    /// True if there is a second tier.
    var hasTier: Bool
    /// True if requests wait for a place at the origin.
    var isQueued: Bool
    /// True if the clients learn the end of their waits later, because they are on other event loops than the fetches.
    var isRemote: Bool
    /// The use of the origin's first version.
    var first = Use.fresh
    var steps: [Step]

    /// A request of a client.
    struct Ask: Sendable, Equatable {
        enum Kind: Sendable, Equatable {
            case get, head, noCache, onlyIfCached
            /// The bytes from a place on, as many as given.
            case range(UInt64, UInt64)
            /// If-None-Match with the tag of the origin's present version.
            case ifNoneMatch
        }

        enum Mode: CaseIterable, Sendable {
            case usual, ignoreLocal, preferCache, onlyCache, mergeOnly
        }

        var kind = Kind.get
        /// The user of Authorization; 0 for none.
        var user = 0
        /// The user of the cookie; 0 for none.
        var cookie = 0
        /// The value of X-Variant; 0 for none.
        var variant = 0
        var mode = Mode.usual
        var joins = true
    }

    /// The use of a response that its Cache-Control allows.
    enum Use: CaseIterable, Sendable {
        case fresh, publicly, noCache, mustRevalidate, staleWhileRevalidate, staleIfError, staleEither, isPrivate,
            noStore
        case setCookie, nothing
    }

    enum Tag: CaseIterable, Sendable {
        case none, weak, strong
    }

    /// An answer of the origin.
    struct Answer: Sendable, Equatable {
        enum Kind: Sendable, Equatable {
            /// The present version: 304 or 206 if the request allows it.
            case present
            /// The version of the time when the request was sent.
            case earlier
            case new(Use, Tag, varies: Bool)
            case missing(Use)
            case failure
            /// 304 with the tag of another version, if the request has a condition.
            case foreign
        }

        var kind = Kind.present
        /// Another use in a 304.
        var use: Use?
        /// False if there is no memory for the body.
        var hasBody = true
        /// False if there is no memory for the entry.
        var hasRoom = true
        /// True if the body is too long for memory, and is stored in the second tier alone.
        var isLong = false
    }

    enum Removal: CaseIterable, Sendable {
        case url, otherURL, tag1, tag2, all
    }

    enum Step: Sendable {
        case asks(Ask)
        case leaves(Int)
        /// The client leaves, and the cache keeps its fetch.
        case detaches(Int)
        /// A queued fetch has its turn at the origin.
        case sends(Int)
        /// The queue of the origin is full.
        case refuses(Int)
        case answers(Int, Answer)
        case fails(Int)
        case ends(Int)
        /// A body breaks off after some of its bytes.
        case breaks(Int, UInt64)
        /// A search in the second tier takes some of its four steps.
        case searches(Int, steps: Int)
        /// The clients whose responses have come get their turn.
        case turn
        case removes(Removal)
        case evicts
        case passes(Int64)
        case carriesOut
        case restarts
    }
}

// MARK: Drawing

extension SessionCourse {
    /// The events that courses of one kind are made of.
    private struct Theme {
        /// The share in percent of plain GET.
        var plain = 60
        /// The greatest value of X-Variant.
        var variants = 0
        var users = 0
        /// The share of ranges in percent.
        var ranges = 5
        var uses: [Use]
        /// The weights of further events; the other ones have 100 together.
        var removals = 3
        var waits = 6
        var evictions = 1
        /// The share in percent of failures of the origin.
        var failures = 5
        /// The share in percent of bodies that are too long for memory.
        var long = 10
        /// The share in percent of clients with another mode than the usual one.
        var modes = 15
    }

    private static let themes = [
        Theme(plain: 50, variants: 2, ranges: 10, uses: [.fresh, .noCache, .staleWhileRevalidate], waits: 12),
        Theme(plain: 70, uses: [.fresh], removals: 6, waits: 4),
        Theme(
            plain: 80, users: 2, uses: [.nothing, .mustRevalidate, .publicly, .fresh, .setCookie], removals: 2, waits: 4
        ),
        Theme(plain: 45, ranges: 45, uses: [.fresh, .staleWhileRevalidate, .staleEither], waits: 14),
        Theme(plain: 5, ranges: 90, uses: [.fresh, .publicly], removals: 1, waits: 2),
        Theme(plain: 80, variants: 12, uses: [.fresh], removals: 1, waits: 2),
        Theme(variants: 1, users: 1, ranges: 10, uses: Use.allCases, removals: 4, waits: 8),
        Theme(plain: 85, ranges: 10, uses: [.staleIfError, .staleEither], removals: 2, waits: 18, failures: 40),
        Theme(plain: 95, uses: [.staleIfError], removals: 0, waits: 14, failures: 50, long: 0, modes: 0),
        Theme(plain: 75, uses: [.fresh, .mustRevalidate], waits: 2, evictions: 16, long: 40, modes: 40),
    ]

    /// Draws a course; the same seed gives the same one.
    init(seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        let theme = Self.themes[Int.random(in: 0..<Self.themes.count, using: &dice)]
        let count = Int.random(in: 5...80, using: &dice)
        self.hasTier = Int.random(in: 0..<3, using: &dice) > 0
        self.isQueued = Int.random(in: 0..<4, using: &dice) == 0
        self.isRemote = Int.random(in: 0..<4, using: &dice) == 0
        self.first = theme.uses.randomElement(using: &dice) ?? .fresh
        self.steps = (0..<count).map { _ in Self.step(theme, &dice) }
    }

    private static func step(_ theme: Theme, _ dice: inout SeededGenerator) -> Step {
        func index() -> Int { Int.random(in: 0..<8, using: &dice) }
        let more = theme.removals + theme.waits + theme.evictions + theme.failures / 2
        switch Int.random(in: 0..<98 + more, using: &dice) {
        case 0..<28: return .asks(Self.ask(theme, &dice))
        case 28..<33: return .leaves(index())
        case 33: return .detaches(index())
        case 34..<39: return .sends(index())
        case 39: return .refuses(index())
        case 40..<60: return .answers(index(), Self.answer(theme, &dice))
        case 60..<73: return .ends(index())
        case 73..<76: return .breaks(index(), UInt64.random(in: 0...60, using: &dice))
        case 76..<87: return .searches(index(), steps: [1, 2, 2, 4].randomElement(using: &dice) ?? 4)
        case 87..<93: return .turn
        case 93..<98: return .carriesOut
        default: return Self.rareStep(theme, &dice)
        }
    }

    private static func rareStep(_ theme: Theme, _ dice: inout SeededGenerator) -> Step {
        var place = Int.random(
            in: 0..<theme.removals + theme.waits + theme.evictions + theme.failures / 2, using: &dice)
        if place < theme.removals { return .removes(Removal.allCases.randomElement(using: &dice) ?? .all) }
        place -= theme.removals
        if place < theme.waits { return .passes(Int64.random(in: 1...8, using: &dice)) }
        place -= theme.waits
        if place >= theme.evictions { return .fails(Int.random(in: 0..<8, using: &dice)) }
        return Int.random(in: 0..<8, using: &dice) == 0 ? .restarts : .evicts
    }

    private static func ask(_ theme: Theme, _ dice: inout SeededGenerator) -> Ask {
        func percent() -> Int { Int.random(in: 0..<100, using: &dice) }
        var ask = Ask()
        if percent() >= theme.plain {
            if percent() < 100 * theme.ranges / (101 - theme.plain) {
                ask.kind = .range(4 * UInt64.random(in: 0...10, using: &dice), Bool.random(using: &dice) ? 2 : 12)
            } else {
                ask.kind = [.head, .noCache, .noCache, .onlyIfCached, .ifNoneMatch].randomElement(using: &dice) ?? .get
            }
        }
        ask.variant = Int.random(in: 0...theme.variants, using: &dice)
        ask.user = Int.random(in: 0...theme.users, using: &dice)
        ask.cookie = percent() < 10 ? Int.random(in: 0...theme.users, using: &dice) : 0
        if percent() < theme.modes { ask.mode = Ask.Mode.allCases.randomElement(using: &dice) ?? .usual }
        ask.joins = percent() < 92
        return ask
    }

    private static func answer(_ theme: Theme, _ dice: inout SeededGenerator) -> Answer {
        func percent() -> Int { Int.random(in: 0..<100, using: &dice) }
        func use() -> Use { (percent() < 85 ? theme.uses : Use.allCases).randomElement(using: &dice) ?? .fresh }
        var answer = Answer()
        switch percent() {
        case 0..<theme.failures: answer.kind = .failure
        case 0..<45: answer.kind = .present
        case 45..<60: answer.kind = .earlier
        case 60..<94:
            let varies = theme.variants > 0 && percent() < 70
            answer.kind = .new(
                use(), percent() < 60 ? .strong : Tag.allCases.randomElement(using: &dice) ?? .none, varies: varies)
        case 94..<97: answer.kind = .missing(use())
        default: answer.kind = .foreign
        }
        if percent() < 10 { answer.use = use() }
        answer.hasBody = percent() < 95
        answer.hasRoom = percent() < 93
        answer.isLong = percent() < theme.long
        return answer
    }
}

// MARK: Words

extension SessionCourse: CustomStringConvertible {
    /// The course in words, an event on each line.
    var description: String {
        func with(_ has: Bool) -> String { has ? "with" : "without" }
        let start =
            "the first version is \(self.first), \(with(self.hasTier)) a second tier, \(with(self.isQueued)) a queue, \(with(self.isRemote)) other event loops"
        return ([start] + self.steps.map(\.description)).joined(separator: "\n")
    }
}

extension SessionCourse.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .asks(let ask): "a client asks: \(ask.description)"
        case .leaves(let index): "client \(index) leaves"
        case .detaches(let index): "client \(index) leaves, the cache keeps its fetch"
        case .sends(let index): "queued fetch \(index) is sent to the origin"
        case .refuses(let index): "queued fetch \(index) is refused"
        case .answers(let index, let answer): "the origin answers request \(index): \(answer.description)"
        case .fails(let index): "request \(index) fails at the origin"
        case .ends(let index): "body \(index) ends"
        case .breaks(let index, let count): "body \(index) breaks off after \(count) bytes"
        case .searches(let index, let count): "search \(index) takes \(count) steps"
        case .turn: "the clients whose responses have come take their turn"
        case .removes(let removal): "removal: \(removal)"
        case .evicts: "memory is emptied"
        case .passes(let seconds): "\(seconds) s pass"
        case .carriesOut: "the second tier carries out a change"
        case .restarts: "the cache is closed, and begins anew"
        }
    }
}

extension SessionCourse.Ask: CustomStringConvertible {
    var description: String {
        var words = "\(self.kind)"
        if self.user > 0 { words += ", Authorization of user \(self.user)" }
        if self.cookie > 0 { words += ", Cookie of user \(self.cookie)" }
        if self.variant > 0 { words += ", variant \(self.variant)" }
        if self.mode != .usual { words += ", mode \(self.mode)" }
        return self.joins ? words : words + ", does not join"
    }
}

extension SessionCourse.Answer: CustomStringConvertible {
    var description: String {
        var words = "\(self.kind)"
        if let use { words += ", in a 304 \(use)" }
        if !self.hasBody { words += ", no memory for the body" }
        if !self.hasRoom { words += ", no memory for the entry" }
        return self.isLong ? words + ", long" : words
    }
}

// MARK: Shortening

extension SessionCourse {
    /// Courses of as many events that are easier to read.
    var simpler: [SessionCourse] {
        self.steps.indices.flatMap { place -> [SessionCourse] in
            var steps: [Step] = []
            switch self.steps[place] {
            case .asks(let ask):
                var plain = Ask()
                plain.kind = ask.kind
                if plain != ask { steps = [.asks(plain)] }
                plain = ask
                plain.kind = .get
                if plain != ask { steps.append(.asks(plain)) }
                for path in [\Ask.user, \.cookie, \.variant] where ask[keyPath: path] != 0 {
                    plain = ask
                    plain[keyPath: path] = 0
                    steps.append(.asks(plain))
                }
            case .answers(let index, let answer):
                var plain = Answer()
                if plain != answer { steps = [.answers(index, plain)] }
                plain.kind = answer.kind
                if plain != answer { steps.append(.answers(index, plain)) }
            default: break
            }
            return steps.map { step in
                var course = self
                course.steps[place] = step
                return course
            }
        } + self.simplerSettings + self.withoutUse
    }

    private var simplerSettings: [SessionCourse] {
        [\SessionCourse.hasTier, \.isQueued, \.isRemote].filter { self[keyPath: $0] }.map { path in
            var course = self
            course[keyPath: path] = false
            return course
        }
    }

    private var withoutUse: [SessionCourse] {
        if self.first == .fresh { return [] }
        var course = self
        course.first = .fresh
        return [course]
    }
}
