// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// A course of events for requests to one origin of HTTP/2.
///
/// Requests, streams and connections are numbers that count those which are under way at the time.
struct OriginCourse: PlayableCourse {
    /// The settings that the origin's connections begin with, each the next of these, and the first again after the last.
    var greetings: [Greeting]
    var steps: [Step]
    var ending = Ending.finishes
    /// True for the mistake by which a test shows that mistakes are found and shrunk.
    var isWrong = false

    enum Ending: String, Codable, CaseIterable {
        /// Everything is brought to its end.
        case finishes
        /// All requests are cancelled.
        case cancels
        /// The session ends with everything under way.
        case closes
    }

    /// The settings of a connection; nil for those that are not sent.
    struct Greeting: Codable {
        var window: Int?
        var streams: Int?
        var frame: Int?
        /// True if it is sent only by a step, or at the end of the course.
        var isLate = false
    }

    /// A request of the session.
    struct Request: Codable {
        enum Body: String, Codable, CaseIterable { case none, whole, measured, unmeasured }

        var method: String
        var body = Body.none
        /// Bytes of the body.
        var size = 0
        /// Bytes of the fields.
        var fields = 0
        var expects = false
        /// True if another one is made from within the call that tells of its end.
        var isFollowed = false
    }

    /// The head of an answer.
    struct Head: Codable {
        enum Length: String, Codable { case none, right, tooShort, tooLong }

        var status = 200
        /// Bytes of the fields.
        var fields = 0
        var length = Length.none
        /// Bytes of the body.
        var size = 0
        /// True if the stream ends with the head.
        var endsStream = false
        /// The bytes in each of the first two frames; zero for as many as fit.
        var cut = 0
        var isPadded = false
        var hasPriority = false
        /// True if the fields are put into the table of the decoder, and taken from it.
        var isIndexed = false
    }

    /// The last stream that a GOAWAY names.
    enum Last: String, Codable, CaseIterable { case none, lowest, middle, highest, all }

    /// The ways in which connections end.
    enum Close: String, Codable, CaseIterable { case inOrder, withinFrame, byReset }

    /// Frames without a meaning for the session.
    enum Noise: String, Codable, CaseIterable {
        case unknownFrame, priority, ping, windowOfEndedStream, resetOfEndedStream, dataOnResetStream
        case acknowledgedPing, emptyData, pings, unknownOnStream, unknownOnIdle, unknownOfAnySize, reservedBit
        case alternativeService, origin, priorityUpdate, manySettings, unknownSettings, windowOfResetStream
        case resetOfResetStream, headOnResetStream, manyEmptyData
    }

    /// Frames that end a connection, since they break HTTP/2.
    enum Breach: String, Codable, CaseIterable {
        case text, push, dataOnZero, dataOnIdle, noWindow, longFrame, brokenBlock, oddSettings, shortPing, overflow
        case resetOfIdle, continuationAlone, pushSetting, headOnIdle, headOnEven, shortWindow, windowOfIdle, longUnknown
        case badPadding, noPadding, frameInSection, settingsOnStream, hugeWindow, smallFrames, longPing, pingOnStream
        case resetOfConnection, shortReset, shortGoAway, goAwayOnStream
    }

    /// Frames that end a stream, since they break HTTP/2.
    enum Misdeed: String, Codable, CaseIterable {
        case noWindow, overflow, upperCase, noStatus, twoStatuses, fieldOfConnection, endedInterim, switching
        case contentBeforeHead, secondHead
    }

    enum Step: Codable {
        case asks(Request)
        case gives(request: Int, Int)
        case endsBody(request: Int, trailers: Bool)
        case pauses(request: Int)
        case readsOn(request: Int)
        case cancels(request: Int)
        case greets(connection: Int)
        case interim(stream: Int, status: Int)
        case head(stream: Int, Head)
        case sends(stream: Int, Int, piece: Int, padding: Int)
        case ends(stream: Int, trailers: Bool, resets: Bool)
        case resets(stream: Int, code: Int)
        case opensWindow(stream: Int, Int)
        case opensConnectionWindow(connection: Int, Int)
        case settings(connection: Int, Greeting)
        case goAway(connection: Int, Last, code: Int)
        case closes(connection: Int, Close)
        case noise(connection: Int, Noise)
        case breaks(connection: Int, Breach)
        case errs(stream: Int, Misdeed)
        /// The verdict on the server runs out.
        case verdictEnds
        case seconds
        case settle
    }

    // MARK: Drawing

    /// Draws a course. Each has only a few kinds of events, so that events which need the same kind twice occur.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let mix = Mix(&random)
        self.greetings = (0..<Int.random(in: 1...3, using: &random)).map { _ in mix.greeting(&random) }
        self.ending = [.finishes, .finishes, .cancels, .closes].randomElement(using: &random) ?? .finishes
        self.steps = []
        for _ in 0..<Int.random(in: 4...40, using: &random) {
            self.steps.append(mix.step(&random))
            if Int.random(in: 0..<3, using: &random) > 0 { self.steps.append(.settle) }
        }
    }

    init(_ steps: [Step], greetings: [Greeting] = [Greeting()], ending: Ending = .finishes, isWrong: Bool = false) {
        (self.greetings, self.steps) = (greetings, steps)
        (self.ending, self.isWrong) = (ending, isWrong)
    }

    private struct Mix {
        let methods: [String]
        let bodies: [Request.Body]
        let sizes: [Int]
        let answerSizes: [Int]
        let fields: [Int]
        let windows: [Int]
        let statuses: [Int]
        let codes: [Int]
        let isWild: Bool
        let streams: Int

        init(_ random: inout SeededGenerator) {
            func some<Value>(_ values: [Value], _ most: Int, _ random: inout SeededGenerator) -> [Value] {
                (0..<Int.random(in: 1...most, using: &random)).map { _ in
                    values[Int.random(in: 0..<values.count, using: &random)]
                }
            }
            self.methods = some(["GET", "GET", "POST", "POST", "PUT", "HEAD", "DELETE", "PATCH"], 2, &random)
            self.bodies = some(Request.Body.allCases, 2, &random)
            self.sizes = some([0, 1, 100, 5000, 16_385, 70_000, 150_000], 2, &random)
            self.answerSizes = some([0, 1, 100, 5000, 16_385, 70_000, 300_000], 2, &random)
            self.fields = some(
                [
                    0, 0, 0, 200, 16_000, 16_384, 20_000, ModelHeads.most - 1, ModelHeads.most, ModelHeads.most + 1,
                    70_000,
                ],
                2, &random)
            self.windows = some([0, 1, 100, 1000, 20_000, 65_535, 200_000], 3, &random)
            self.statuses = some([200, 200, 200, 204, 304, 404, 500], 2, &random)
            self.codes = some([7, 7, 0, 8, 2, 1, 11, 13, 99], 2, &random)
            self.isWild = Int.random(in: 0..<3, using: &random) == 0
            self.streams = Int.random(in: 1...6, using: &random)
        }

        func greeting(_ random: inout SeededGenerator) -> Greeting {
            func maybe(_ values: [Int]) -> Int? {
                Int.random(in: 0..<3, using: &random) == 0 ? values.randomElement(using: &random) : nil
            }
            return Greeting(
                window: maybe(self.windows), streams: maybe([0, 1, 2, 3, 100]), frame: maybe([16_384, 16_385, 70_000]),
                isLate: Int.random(in: 0..<6, using: &random) == 0)
        }

        func step(_ random: inout SeededGenerator) -> Step {
            func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
            func one<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
            let number = below(self.streams)
            switch below(100) {
            case 0..<18: return .asks(self.request(&random))
            case 18..<23: return .gives(request: number, one([1, 100, 5000, 40_000, 100_000]))
            case 23..<27: return .endsBody(request: number, trailers: below(4) == 0)
            case 27..<30: return .pauses(request: number)
            case 30..<33: return .readsOn(request: number)
            case 33..<37: return .cancels(request: number)
            case 37: return .greets(connection: number)
            case 38..<41: return .interim(stream: number, status: one([100, 103, 102]))
            case 41..<51: return .head(stream: number, self.head(&random))
            case 51..<57:
                return .sends(
                    stream: number, one([1, 100, 5000, 20_000, 100_000]), piece: one([16_384, 16_384, 100, 7000]),
                    padding: one([0, 0, 0, 1, 200]))
            case 57..<67:
                return .ends(stream: number, trailers: below(4) == 0, resets: below(4) == 0)
            case 67..<71: return .resets(stream: number, code: one(self.codes))
            case 71..<74: return .opensWindow(stream: number, one([1, 100, 20_000, 1_000_000]))
            case 74..<77: return .opensConnectionWindow(connection: number, one([1, 100, 20_000, 1_000_000]))
            case 77..<80: return .settings(connection: number, self.greeting(&random))
            case 80..<86: return .goAway(connection: number, one(Last.allCases), code: one([0, 0, 0, 2, 11]))
            case 86..<88: return .closes(connection: number, one(Close.allCases))
            case 88..<92: return .noise(connection: number, one(Noise.allCases))
            case 92 where self.isWild: return .breaks(connection: number, one(Breach.allCases))
            case 93: return below(3) == 0 ? .verdictEnds : .seconds
            case 94: return .errs(stream: number, one(Misdeed.allCases))
            default: return .settle
            }
        }

        private func request(_ random: inout SeededGenerator) -> Request {
            func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
            func one<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
            let method = one(self.methods)
            let body = ["GET", "HEAD", "DELETE"].contains(method) ? .none : one(self.bodies)
            return Request(
                method: method, body: body, size: body == .none ? 0 : one(self.sizes),
                fields: below(3) == 0 ? one(self.fields) : 0,
                expects: body != .none && below(5) == 0, isFollowed: below(6) == 0)
        }

        private func head(_ random: inout SeededGenerator) -> Head {
            func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
            func one<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
            let endsStream = below(5) == 0
            let length: Head.Length = below(2) == 0 ? .none : one([.right, .right, .right, .tooShort, .tooLong])
            return Head(
                status: one(self.statuses), fields: below(2) == 0 ? one(self.fields) : 0, length: length,
                size: endsStream ? 0 : one(self.answerSizes), endsStream: endsStream,
                cut: one([0, 0, 1, 2, 9, 100, 16_383, 16_384]), isPadded: below(5) == 0, hasPriority: below(6) == 0,
                isIndexed: below(2) == 0)
        }
    }
}

/// Heads of a chosen size.
enum ModelHeads {
    /// The most bytes of the fields of an answer.
    static let most = 40_000
    /// The most bytes of one line.
    static let line = 16 * 1024

    /// Makes fields that count as this many bytes: names, values and four more for each, as in HTTP/1.1.
    ///
    /// - Parameter count: zero, or at least 64.
    static func fields(_ count: Int) -> [(name: String, value: String)] {
        var (fields, left) = ([(name: String, value: String)](), count)
        while left > 0 {
            // The rest of it is not too short for another one.
            let size = left <= 4000 ? left : min(4000, left - 64)
            let name = "x-pad-\(fields.count)"
            fields.append((name, String(repeating: "v", count: max(0, size - name.utf8.count - 4))))
            left -= size
        }
        return fields
    }
}
