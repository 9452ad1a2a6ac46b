// SPDX-License-Identifier: Apache-2.0

import PintleTesting

extension FrameCourse {
    /// Draws a course. Each has only a few kinds of requests and answers, so that events which need the same kind twice
    /// occur.
    init(seed: UInt64) {
        var dice = Dice(SeededGenerator(seed: seed))
        self.configuration = dice.below(FrameConfiguration.all.count)
        self.window = dice.one([65_535, 65_535, 0, 1, 100, 20_000, 1 << 20])
        self.lateness = dice.one([0, 0, 5, 1000])
        self.end = dice.one(End.allCases)
        self.steps = []
        let mix = Mix(&dice, FrameConfiguration.all[self.configuration])
        for _ in 0..<dice.between(4, 50) {
            self.steps.append(mix.step(&dice))
            if dice.below(2) == 0 { self.steps.append(.turn) }
        }
    }

    private struct Dice {
        private var random: SeededGenerator

        init(_ random: SeededGenerator) { self.random = random }

        mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self.random) }

        mutating func between(_ least: Int, _ most: Int) -> Int { Int.random(in: least...most, using: &self.random) }

        mutating func one<Value>(_ values: [Value]) -> Value { values[self.below(values.count)] }

        mutating func some<Value>(_ values: [Value], _ most: Int) -> [Value] {
            (0..<self.between(1, most)).map { _ in self.one(values) }
        }
    }

    private struct Mix {
        let requests: [Request]
        let answers: [Answer]
        let interims: [Filling]
        let isHarsh: Bool

        init(_ dice: inout Dice, _ configuration: FrameConfiguration) {
            func filling(_ dice: inout Dice, over: Bool) -> Filling {
                let most = configuration.bytes
                let total = dice.one(
                    [0, 0, 0, 1, 40, 300, 3000, most / 3, most - 600] + (over ? [most + 1000, most + 8000] : []))
                let size = min(
                    dice.one(
                        [1, 30, 300, 3000, 12_000, configuration.line - 20] + (over ? [configuration.line + 1] : [])),
                    total)
                return total == 0 ? Filling() : Filling(lines: min(max(1, total / (size + 8)), 300), size: size)
            }
            self.requests = (0..<dice.between(1, 3)).map { _ in
                var request = Request()
                request.method = dice.one(["GET", "GET", "HEAD", "POST", "POST", "PUT"])
                request.filling = filling(&dice, over: true)
                request.form = dice.one(Request.Form.allCases)
                if dice.below(8) == 0 { request.fault = dice.one(Request.Fault.allCases) }
                if request.fault == .unknownProtocol { request.method = "CONNECT" }
                (request.isPadded, request.hasPriority) = (dice.below(4) == 0, dice.below(4) == 0)
                request.cut = dice.one([1 << 14, 1 << 14, 5000, 100, 1])
                // The codec ends the connection if trailers follow a head that it has refused.
                if request.fault == .none, ["POST", "PUT"].contains(request.method) {
                    request.body = dice.one([.declared, .undeclared, .declared, .undeclared] + Request.Body.allCases)
                    request.size = request.body == .none ? 0 : dice.one([0, 1, 300, 5000, 70_000, 200_000])
                }
                return request
            }
            self.answers = (0..<dice.between(1, 3)).map { _ in
                var answer = Answer()
                answer.status = dice.one([200, 200, 200, 200, 204, 304, 404, 500])
                answer.filling = filling(&dice, over: false)
                // A session keeps to this as well: its own limits are those of the configuration.
                answer.filling.lines = min(answer.filling.lines, configuration.count - 10)
                answer.version = dice.below(ModelContent.versions)
                answer.length = dice.one(Answer.Length.allCases)
                answer.endsWithHead = dice.below(4) == 0
                return answer
            }
            self.interims = [Filling(), filling(&dice, over: false)]
            self.isHarsh = dice.below(3) == 0
        }

        func step(_ dice: inout Dice) -> Step {
            let (stream, origin) = (dice.below(4), dice.below(4))
            switch dice.below(100) {
            case 0..<20: return .opens(dice.one(self.requests))
            case 20..<28:
                return .sends(
                    stream: stream, dice.one([1, 3, 100, 5000, 40_000, 70_000]),
                    padding: dice.one([0, 0, 0, 1, 200]))
            case 28..<32: return .endsBody(stream: stream)
            case 32: return .trailers(stream: stream)
            case 33..<36: return .resets(stream: stream)
            case 36: return .prioritizes(stream: stream)
            case 37..<41: return .gives(stream: stream, dice.one([1, 100, 16_384, 70_000]))
            case 41..<44: return .givesConnection(dice.one([1, 100, 16_384, 70_000]))
            case 44..<46: return .setsWindow(dice.one([0, 1, 100, 65_535, 200_000]))
            case 46: return .setsTable(dice.one([0, 100, 4096, 65_536]))
            case 47: return .setsFrame(dice.one([16_384, 20_000, 1 << 20]))
            case 48: return .resizesTable(dice.one([0, 100, 4096]))
            case 49: return .pings
            case 50: return .unknown
            case 51..<53: return .stopsReading
            case 53..<56: return .readsOn
            case 56..<59: return .cuts(dice.one([1, 2, 10, 100, 4000]))
            case 59..<61: return .interim(origin: origin, dice.one(self.interims))
            case 61..<75: return .answers(origin: origin, dice.one(self.answers))
            case 75..<80: return .givesBody(origin: origin, dice.one([1, 4, 100, 5000, 20_000, 70_000]))
            case 80: return .givesTrailers(origin: origin)
            case 81..<88: return .ends(origin: origin)
            case 88: return .endsWhenGiven(origin: origin)
            case 89: return .fails(origin: origin)
            case 90: return .slows(origin: origin)
            case 91: return .takes(origin: origin)
            case 92: return .second
            case 93: return .oddWindow(stream: stream, isZero: dice.below(2) == 0)
            case 94..<96: return .turn
            default: return self.rareStep(&dice)
            }
        }

        /// An event after which not much else happens on a connection, or to its streams.
        private func rareStep(_ dice: inout Dice) -> Step {
            guard self.isHarsh else { return .turn }
            switch dice.below(10) {
            case 0: return .goesAway
            case 1: return .breaches(dice.one(Breach.allCases))
            case 2: return .leaves
            case 3: return .memoryRunsShort
            case 4: return .memoryIsFree
            case 5: return .drains
            case 6: return .reload
            case 7, 8:
                let flood = dice.one(FrameCourse.Flood.allCases)
                return .floods(stream: dice.below(4), flood, dice.one([30, 90, 101, 150, 240, 1300]))
            default: return .hour
            }
        }
    }

    // MARK: Shrinking

    var simpler: [FrameCourse] {
        self.steps.indices.flatMap { index in
            Self.simpler(self.steps[index]).map { step in
                var course = self
                course.steps[index] = step
                return course
            }
        }
    }

    private static func simpler(_ step: Step) -> [Step] {
        switch step {
        case .opens(let request):
            var changes: [Request] = []
            func change(_ change: (inout Request) -> Void) {
                var simple = request
                change(&simple)
                changes.append(simple)
            }
            if !request.filling.isEmpty { change { $0.filling = Filling() } }
            if request.form != .plain { change { $0.form = .plain } }
            if request.isPadded || request.hasPriority { change { ($0.isPadded, $0.hasPriority) = (false, false) } }
            if request.cut < 1 << 14 { change { $0.cut = 1 << 14 } }
            if request.size > 3 { change { $0.size = 3 } }
            if request.body != .none { change { ($0.body, $0.size, $0.method) = (.none, 0, "GET") } }
            return changes.map { .opens($0) }
        case .answers(let origin, let answer) where !answer.filling.isEmpty:
            var simple = answer
            simple.filling = Filling()
            return [.answers(origin: origin, simple)]
        case .interim(let origin, let filling) where !filling.isEmpty: return [.interim(origin: origin, Filling())]
        case .sends(let stream, let count, let padding) where padding > 0:
            return [.sends(stream: stream, count, padding: 0)]
        default: return []
        }
    }
}
