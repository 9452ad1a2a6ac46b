// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// A pattern that is common in practice. Courses are made of its requests and answers, so that they contain combinations
/// which pure chance would hardly make.
struct CourseTheme: Sendable {
    /// True for the configurations that it is played under.
    var fits: @Sendable (ModelConfiguration) -> Bool = { _ in true }
    /// True for configurations with answers on the disk, false for the others.
    var hasDisk = false
    var requests = Course.Request.Kind.allCases
    var answers: [Course.Answer.Kind] = [.ok, .ok, .ok, .part, .notModified]
    var uses = Course.Answer.Use.allCases
    /// Names of contents: see ``ModelContent``.
    var versions = Array(0..<ModelContent.versions)
    /// Bytes of the requests' bodies.
    var sizes = [0, 1, 10, 300, 5000, 70_000]
    /// The most paths and users.
    var paths = 3
    var users = 3
    /// True if a course has every kind of request and answer of the theme and few others; otherwise it has a few kinds.
    var isWhole = true

    /// Themes with a disk are rarer: a restart takes as long as hundreds of other events.
    static let all = quick + quick + [restarts]

    /// A proxy that is restarted, and has its answers on the disk.
    private static let restarts = CourseTheme(
        hasDisk: true, requests: [.get, .get, .noCache, .part], answers: [.ok, .ok, .notModified],
        uses: [.fresh, .freshForMany, .varying, .noStore, .mustRevalidate], paths: 1)

    private static let quick = [
        // All kinds of requests and answers.
        CourseTheme(isWhole: false),
        // A cache, and those who use it.
        CourseTheme(
            fits: \.shares, requests: [.get, .get, .get, .part, .noCache, .head, .conditional], isWhole: false),
        // A player that reads parts, which are renewed while they are given, and a download of the whole.
        CourseTheme(
            fits: { $0.keeps && $0.joins }, requests: [.part, .part, .get],
            answers: [.part, .part, .notModified, .ok], uses: [.staleWhileRevalidate, .staleWhileRevalidate, .fresh],
            versions: [2, 3, 4, 5, 8], paths: 1, users: 1),
        // A page that is loaded anew again and again, while its server answers in any order.
        CourseTheme(
            fits: \.keeps, requests: [.noCache, .noCache, .get, .get], answers: [.ok],
            uses: [.fresh, .freshForMany, .noStore, .varying], paths: 1, users: 1),
        // Users with separate accounts that request the same resource.
        CourseTheme(
            fits: \.shares, requests: [.get, .get, .noCache, .conditional], answers: [.ok, .ok, .notModified],
            uses: [.mustRevalidate, .noCache, .silent, .isPrivate, .cookie], paths: 1),
        // A server that fails, with a cache that may answer for it.
        CourseTheme(
            fits: \.shares, requests: [.get, .get, .noCache], answers: [.ok, .failure, .notModified],
            uses: [.staleIfError, .staleWhileRevalidate, .mustRevalidate], paths: 1),
        // Uploads that are led elsewhere.
        CourseTheme(
            fits: \.follows, requests: [.post, .postChunked, .postExpecting],
            answers: [.found, .other, .other, .again, .permanent, .ok], sizes: [300, 5000, 70_000]),
        // Tunnels, and connections that become another protocol's.
        CourseTheme(requests: [.connect, .upgrade, .upgrade, .get], answers: [.ok, .found], paths: 1),
    ]
}

extension Course {
    /// Draws a course. Each has only a few kinds of requests and answers, so that events which need the same kind twice
    /// occur.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let theme = random.one(of: CourseTheme.all)
        let fitting = ModelConfiguration.all.indices.filter { index in
            let configuration = ModelConfiguration.all[index]
            return configuration.hasDisk == theme.hasDisk && theme.fits(configuration)
        }
        let configuration = random.one(of: fitting)
        let endsByLeaving = random.below(4) == 0
        let mix = Mix(theme, ModelConfiguration.all[configuration], &random)
        var steps: [Step] = []
        for _ in 0..<(4 + random.below(37)) {
            steps.append(mix.step(&random))
            if random.below(2) == 0 { steps.append(.turn) }
        }
        self.init(configuration: configuration, steps: steps, endsByLeaving: endsByLeaving)
    }

    /// The kinds that one course has.
    private struct Mix {
        let requests: [Request.Kind]
        let answers: [Answer.Kind]
        let uses: [Answer.Use]
        let versions: [Int]
        let (clients, paths, users, variants): (Int, Int, Int, Int)
        let sizes: [Int]
        let passwords: [Request.Password]
        let hasDisk: Bool

        init(_ theme: CourseTheme, _ configuration: ModelConfiguration, _ random: inout SeededGenerator) {
            self.requests = theme.isWhole ? theme.requests : random.some(of: theme.requests, atMost: 3)
            var answers = theme.isWhole ? theme.answers : random.some(of: theme.answers, atMost: 2)
            if configuration.follows, random.below(2) == 0 { answers.append(random.one(of: [.found, .other, .again])) }
            if random.below(theme.isWhole ? 4 : 2) == 0 {
                answers += random.some(of: Answer.Kind.allCases, atMost: 2)
            }
            self.answers = answers
            self.uses = random.some(of: theme.uses, atMost: 2)
            self.versions = random.some(of: theme.versions, atMost: 2)
            self.clients = 1 + random.below(3)
            self.paths = random.below(theme.isWhole ? 1 : 3) == 0 ? theme.paths : 1
            self.users = 1 + random.below(theme.users)
            self.variants = 1 + random.below(2)
            self.sizes = random.some(of: theme.sizes, atMost: 2)
            self.hasDisk = configuration.hasDisk
            self.passwords =
                configuration.hasPasswords ? [.right, .right, .right, .right, .right, .right, .none, .wrong] : [.none]
        }

        func step(_ random: inout SeededGenerator) -> Step {
            let (client, origin) = (random.below(self.clients), random.below(3))
            switch random.below(100) {
            case 0..<24:
                return .asks(
                    client: client,
                    Request(
                        kind: random.one(of: self.requests), path: random.below(self.paths),
                        user: random.below(self.users), variant: random.below(self.variants),
                        size: random.one(of: self.sizes), password: random.one(of: self.passwords)))
            case 24..<30: return .sends(client: client, random.one(of: [1, 3, 100, 5000, 40_000, 70_000]))
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
                        kind: random.one(of: self.answers), use: random.one(of: self.uses),
                        version: random.one(of: self.versions), isChunked: random.below(3) == 0,
                        path: random.below(3)))
            case 63..<69: return .gives(origin: origin, random.one(of: [1, 4, 100, 5000, 70_000]))
            case 69: return .trailers(origin: origin)
            case 70..<82: return .ends(origin: origin)
            case 82: return .endsWhenGiven(origin: origin)
            case 83..<85: return .fails(origin: origin)
            case 85..<87: return .slows(origin: origin)
            case 87..<90: return .takes(origin: origin)
            case 90..<93 where self.hasDisk: return .restart
            case 90: return .memoryRunsShort
            case 91: return .memoryIsFree
            case 92: return .reload
            case 93..<96: return .switches(origin: origin, asOffered: random.below(4) > 0)
            case 96, 97: return .hour
            default: return .turn
            }
        }
    }
}

extension SeededGenerator {
    /// A number of 0..<count.
    fileprivate mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

    fileprivate mutating func one<Value>(of values: [Value]) -> Value { values[self.below(values.count)] }

    /// One value or more, perhaps the same one twice.
    fileprivate mutating func some<Value>(of values: [Value], atMost most: Int) -> [Value] {
        (0...self.below(most)).map { _ in self.one(of: values) }
    }
}
