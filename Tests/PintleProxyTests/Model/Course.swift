// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// A course of events for some exchanges of one lane, drawn at random: everything that is needed to play it again.
///
/// Clients, paths and origins are numbers; an origin's number counts those that are under way at the time, so a course from
/// which events are taken out is still one.
struct Course: Codable, Sendable {
    /// An index of ``ModelConfiguration/all``.
    var configuration: Int
    var steps: [Step]
    /// True if all clients leave after the last step; else everything is brought to its end.
    var endsByLeaving = false
    /// True for the mistake by which a test shows that mistakes are found and shrunk.
    var isWrong = false

    /// A request of a client.
    struct Request: Codable, Sendable {
        enum Kind: String, Codable, CaseIterable {
            case get, head, part, unconditional, noCache, conditional, post, postChunked, postExpecting, delete
        }

        var kind: Kind
        /// 0 to 2: two paths of a.test, and one of b.test.
        var path = 0
        /// The index of an Authorization; 0 for none.
        var user = 0
        /// The value of X-Variant, which some answers vary by.
        var variant = 0
        /// Bytes of the request's body.
        var size = 0

        var hasBody: Bool { [.post, .postChunked, .postExpecting].contains(self.kind) }
        var method: String {
            self.kind == .head ? "HEAD" : self.kind == .delete ? "DELETE" : self.hasBody ? "POST" : "GET"
        }
    }

    /// An answer of an origin.
    struct Answer: Codable, Sendable {
        enum Kind: String, Codable, CaseIterable {
            case ok, part, notModified, otherNotModified, noContent, missing, failure, found, other, again, permanent
        }

        /// How long the answer may be used, and by whom.
        enum Use: String, Codable, CaseIterable {
            case fresh, freshForMany, mustRevalidate, noCache, staleWhileRevalidate, staleIfError, isPrivate, noStore
            case silent, varying, cookie
        }

        var kind: Kind
        var use: Use
        /// Names the content: see ``ModelContent``.
        var version = 0
        var isChunked = false
        /// 0 to 2: the path that a redirect leads to.
        var path = 0
    }

    enum Step: Codable, Sendable {
        case asks(client: Int, Request)
        case sends(client: Int, Int)
        case endsBody(client: Int)
        case stopsReading(client: Int)
        case readsOn(client: Int)
        case leaves(client: Int)
        case breaks(client: Int)
        case interim(origin: Int)
        case answers(origin: Int, Answer)
        case gives(origin: Int, Int)
        case trailers(origin: Int)
        case ends(origin: Int)
        case endsWhenGiven(origin: Int)
        case fails(origin: Int)
        case slows(origin: Int)
        case takes(origin: Int)
        case memoryRunsShort
        case memoryIsFree
        case reload
        case turn
        case hour
    }

    // MARK: Drawing

    /// Draws a course. Each has a few kinds of requests and answers only, so that what needs the same thing twice is met.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.configuration = Int.random(in: 0..<ModelConfiguration.all.count, using: &random)
        self.endsByLeaving = Int.random(in: 0..<4, using: &random) == 0
        self.steps = []
        let mix = Mix(&random, ModelConfiguration.all[self.configuration])
        for _ in 0..<Int.random(in: 4...40, using: &random) {
            self.steps.append(mix.step(&random))
            if Int.random(in: 0..<2, using: &random) == 0 { self.steps.append(.turn) }
        }
    }

    init(configuration: Int, steps: [Step], endsByLeaving: Bool = false, isWrong: Bool = false) {
        (self.configuration, self.steps) = (configuration, steps)
        (self.endsByLeaving, self.isWrong) = (endsByLeaving, isWrong)
    }

    private struct Mix {
        let requests: [Request.Kind]
        let answers: [Answer.Kind]
        let uses: [Answer.Use]
        let versions: [Int]
        let (clients, paths, users, variants): (Int, Int, Int, Int)
        let sizes: [Int]

        init(_ random: inout SeededGenerator, _ configuration: ModelConfiguration) {
            func some<Value>(_ values: [Value], _ most: Int, _ random: inout SeededGenerator) -> [Value] {
                (0..<Int.random(in: 1...most, using: &random)).map { _ in
                    values[Int.random(in: 0..<values.count, using: &random)]
                }
            }
            let forCaches: [Request.Kind] = [.get, .get, .get, .part, .noCache, .head, .conditional]
            let all = Request.Kind.allCases
            self.requests = some(
                configuration.shares && Int.random(in: 0..<4, using: &random) > 0 ? forCaches : all, 3, &random)
            let plain: [Answer.Kind] = [.ok, .ok, .ok, .part, .notModified]
            let others = Answer.Kind.allCases
            self.answers =
                some(plain, 2, &random)
                + (configuration.follows && Bool.random(using: &random)
                    ? some([.found, .other, .again], 1, &random) : [])
                + (Bool.random(using: &random) ? some(others, 2, &random) : [])
            self.uses = some(Answer.Use.allCases, 2, &random)
            self.versions = some(Array(0..<ModelContent.versions), 2, &random)
            self.clients = Int.random(in: 1...3, using: &random)
            self.paths = Int.random(in: 0..<3, using: &random) == 0 ? 3 : 1
            self.users = Int.random(in: 1...3, using: &random)
            self.variants = Int.random(in: 1...2, using: &random)
            self.sizes = some([0, 1, 10, 300, 5000, 70_000], 2, &random)
        }

        func step(_ random: inout SeededGenerator) -> Step {
            func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
            func one<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
            let (client, origin) = (below(self.clients), below(3))
            switch below(100) {
            case 0..<24:
                return .asks(
                    client: client,
                    Request(
                        kind: one(self.requests), path: below(self.paths), user: below(self.users),
                        variant: below(self.variants), size: one(self.sizes)))
            case 24..<30: return .sends(client: client, one([1, 3, 100, 5000, 40_000, 70_000]))
            case 30..<34: return .endsBody(client: client)
            case 34..<36: return .stopsReading(client: client)
            case 36..<39: return .readsOn(client: client)
            case 39..<42: return .leaves(client: client)
            case 42: return .breaks(client: client)
            case 43..<45: return .interim(origin: origin)
            case 45..<63:
                return .answers(
                    origin: origin,
                    Answer(
                        kind: one(self.answers), use: one(self.uses), version: one(self.versions),
                        isChunked: below(3) == 0, path: below(3)))
            case 63..<69: return .gives(origin: origin, one([1, 4, 100, 5000, 70_000]))
            case 69: return .trailers(origin: origin)
            case 70..<82: return .ends(origin: origin)
            case 82: return .endsWhenGiven(origin: origin)
            case 83..<85: return .fails(origin: origin)
            case 85..<87: return .slows(origin: origin)
            case 87..<90: return .takes(origin: origin)
            case 90: return .memoryRunsShort
            case 91: return .memoryIsFree
            case 92: return .reload
            case 93..<97: return .turn
            default: return .hour
            }
        }
    }
}

extension Course: CustomStringConvertible {
    /// The course in words, an event on each line.
    var description: String {
        let end = self.endsByLeaving ? "all clients leave" : "everything goes on to its end"
        return (["under \(ModelConfiguration.all[self.configuration].yaml)"] + self.steps.map(\.description) + [end])
            .joined(separator: "\n")
    }
}

extension Course.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .asks(let client, let request):
            var words = "client \(client) asks: \(request.kind.rawValue) of path \(request.path)"
            if request.hasBody { words += " with \(request.size) bytes" }
            if request.user > 0 { words += ", as user \(request.user)" }
            return request.variant > 0 ? words + ", for variant \(request.variant)" : words
        case .sends(let client, let count): return "client \(client) sends up to \(count) bytes"
        case .endsBody(let client): return "client \(client) sends the rest, and ends its body"
        case .stopsReading(let client): return "client \(client) stops reading"
        case .readsOn(let client): return "client \(client) reads on"
        case .leaves(let client): return "client \(client) leaves"
        case .breaks(let client): return "client \(client) sends what is no HTTP"
        case .interim(let origin): return "origin \(origin) sends 103"
        case .answers(let origin, let answer):
            let framing = answer.isChunked ? "in chunks" : "with a length"
            return "origin \(origin) answers: \(answer.kind.rawValue), \(answer.use.rawValue), content "
                + "\(answer.version) \(framing), leading to path \(answer.path)"
        case .gives(let origin, let count): return "origin \(origin) sends up to \(count) bytes"
        case .trailers(let origin): return "origin \(origin) sends the rest and trailers"
        case .ends(let origin): return "origin \(origin) sends the rest, and ends"
        case .endsWhenGiven(let origin):
            return "origin \(origin) ends from within the next call that gives it something"
        case .fails(let origin): return "origin \(origin) breaks off"
        case .slows(let origin): return "origin \(origin) takes no more of its body by itself"
        case .takes(let origin): return "origin \(origin) takes what waits"
        case .memoryRunsShort: return "others hold all memory"
        case .memoryIsFree: return "others give it back"
        case .reload: return "another configuration comes"
        case .turn: return "a turn ends"
        case .hour: return "two hours pass"
        }
    }
}
