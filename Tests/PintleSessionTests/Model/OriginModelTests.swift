// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Requests to an HTTP/2 origin, driven by random events on both sides, against a plain model: the frames that each side
/// has sent, and the rules for what the other side must have seen (``ModelAsk``, ``ModelAttempt``, ``ModelPeer``).
///
/// The courses are the same each time. `PINTLE_STEPS` sets the number of events, and `PINTLE_SEED` the seed of the first
/// course.
struct OriginModelTests {
    /// Plays a job of courses in a separate process.
    private static func play(_ job: String) async {
        await withKnownIssue("a course may be wrong", isIntermittent: true) {
            await #expect(processExitsWith: .success) { [job = job as String] in
                let stage = try OriginStage()
                try CourseRun<OriginCourse>.perform(job) { try stage.play($0) }
            }
        }
    }

    @Test func `requests to an origin of HTTP 2 keep what the model says, whatever the order of events`() async throws {
        let fault = try await CourseRun<OriginCourse>.fault(from: 1, steps: 16_000, by: Self.play)
        #expect(fault == nil, "\(fault ?? "")")
    }

    /// Courses that random ones have led to, and that nothing else plays.
    static let courses: [(name: String, course: OriginCourse)] = [
        (
            "an answer in place of 100 Continue is told of in order, though the body is sent by it",
            OriginCourse([
                .asks(.init(method: "POST", body: .measured, size: 1, expects: true)),
                .endsBody(request: 0, trailers: true), .settle, .ends(stream: 0, trailers: false, resets: true),
            ])
        ),
        (
            "an answer that waits to be taken is whole, though its origin goes away and speaks on",
            OriginCourse([
                .asks(.init(method: "GET")), .settle, .pauses(request: 0),
                .head(stream: 0, .init(length: .right, size: 100)), .ends(stream: 0, trailers: false, resets: false),
                .goAway(connection: 0, .highest, code: 0), .settle, .settings(connection: 0, .init(streams: 5)),
                .settle,
            ])
        ),
        (
            "an answer that waits to be taken is whole, though the connection ends",
            OriginCourse([
                .asks(.init(method: "GET")), .settle, .pauses(request: 0),
                .head(stream: 0, .init(length: .right, size: 100)), .ends(stream: 0, trailers: false, resets: false),
                .settle, .closes(connection: 0, .inOrder), .settle,
            ])
        ),
        (
            "LOOK-69 a connection that takes no head any more fails its requests, which reset their streams",
            OriginCourse(
                [
                    .asks(.init(method: "DELETE")), .asks(.init(method: "DELETE")), .settle,
                    .ends(stream: 0, trailers: false, resets: false), .asks(.init(method: "DELETE")), .settle,
                    .head(stream: 3, .init(status: 500, length: .right, size: 300_000, cut: 16_384, isIndexed: true)),
                    .goAway(connection: 0, .highest, code: 11), .settle,
                    .ends(stream: 2, trailers: true, resets: false), .closes(connection: 0, .inOrder),
                    .asks(.init(method: "DELETE")),
                ], greetings: [.init(streams: 0, frame: 70_000), .init(), .init()])
        ),
        (
            "a stream whose head waits to be taken, and is over the limits, is closed",
            OriginCourse([
                .asks(.init(method: "POST", body: .unmeasured, size: 1)), .settle, .pauses(request: 0),
                .head(stream: 0, .init(fields: 70_000, endsStream: true, isIndexed: true)),
            ])
        ),
        (
            "LOOK-69 a request that an origin had no room for is sent again when it goes away",
            OriginCourse(
                [
                    .asks(.init(method: "POST", body: .whole, size: 100)), .settle,
                    .goAway(connection: 0, .all, code: 0), .settle,
                ], greetings: [.init(streams: 0), .init()])
        ),
        (
            "a request that is cancelled before its origin had room for it is not sent",
            OriginCourse(
                [
                    .asks(.init(method: "PATCH", body: .unmeasured)), .settle, .cancels(request: 0), .settle,
                    .settings(connection: 0, .init(streams: 5)), .settle, .asks(.init(method: "GET")), .settle,
                ], greetings: [.init(streams: 0)])
        ),
        (
            "LOOK-69 a request that an origin which goes away has not seen may be refused once as well",
            OriginCourse([
                .asks(.init(method: "POST")), .settle, .goAway(connection: 0, .none, code: 0), .settle,
                .resets(stream: 0, code: HTTP2Bytes.Code.refusedStream.rawValue), .settle,
            ])
        ),
        (
            "LOOK-69 a request that an origin which goes away has not seen is sent again when a used connection ends",
            OriginCourse([
                .asks(.init(method: "GET")), .asks(.init(method: "GET")), .settle,
                .goAway(connection: 0, .lowest, code: 0), .asks(.init(method: "GET")), .settle,
                .ends(stream: 1, trailers: false, resets: false), .settle, .closes(connection: 1, .inOrder), .settle,
            ])
        ),
        (
            "LOOK-69 a GOAWAY that waits to be read counts, though writing fails before",
            OriginCourse([
                .asks(.init(method: "POST", body: .measured, size: 100)), .settle,
                .goAway(connection: 0, .none, code: 0), .closes(connection: 0, .byReset), .gives(request: 0, 10),
                .settle,
            ])
        ),
        (
            "LOOK-69 a request that is refused twice fails",
            OriginCourse(
                [.asks(.init(method: "POST")), .settle]
                    + Array(
                        repeating: [
                            .resets(stream: 0, code: HTTP2Bytes.Code.refusedStream.rawValue), OriginCourse.Step.settle,
                        ], count: 2
                    ).joined())
        ),
        (
            "LOOK-69 a request is not sent to an origin for ever that always goes away",
            OriginCourse(
                [.asks(.init(method: "POST")), .settle]
                    + Array(
                        repeating: [.goAway(connection: 0, .none, code: 0), OriginCourse.Step.settle], count: 20
                    ).joined())
        ),
        (
            "a request that waits for a stream goes over another connection when the verdict on the server runs out",
            OriginCourse(
                [
                    .asks(.init(method: "GET")), .settle, .verdictEnds, .settle,
                    .settings(connection: 0, .init(streams: 5)), .settle,
                ], greetings: [.init(streams: 0), .init()])
        ),
        (
            "a long body that waits for a stream is whole on another connection when the verdict on the server runs out",
            OriginCourse(
                [
                    .asks(.init(method: "POST", body: .measured, size: 70_000)), .gives(request: 0, 100_000), .settle,
                    .verdictEnds, .settle,
                ], greetings: [.init(streams: 0), .init()])
        ),
        (
            "a long body that waits for a stream is whole on another connection when its origin goes away",
            OriginCourse(
                [
                    .asks(.init(method: "POST", body: .unmeasured, size: 150_000)), .gives(request: 0, 100_000),
                    .settle, .goAway(connection: 0, .all, code: 0), .settle,
                ], greetings: [.init(streams: 0), .init()])
        ),
        (
            "a long body that waits for a stream leaves when its origin has room",
            OriginCourse(
                [
                    .asks(.init(method: "POST", body: .measured, size: 70_000)), .gives(request: 0, 40_000), .settle,
                    .settings(connection: 0, .init(streams: 1)), .settle, .gives(request: 0, 40_000), .settle,
                ], greetings: [.init(streams: 0)])
        ),
        (
            "a second head of an answer fails its request alone",
            OriginCourse([
                .asks(.init(method: "GET")), .asks(.init(method: "GET")), .settle, .head(stream: 1, .init(size: 1)),
                .errs(stream: 1, .secondHead), .settle,
            ])
        ),
        (
            "a head that is malformed fails its request alone",
            OriginCourse([
                .asks(.init(method: "GET")), .asks(.init(method: "GET")), .settle, .errs(stream: 1, .upperCase),
                .settle,
                .asks(.init(method: "GET")), .settle, .errs(stream: 1, .fieldOfConnection), .settle,
            ])
        ),
        (
            "a server that allows itself to push has its connection ended",
            OriginCourse([.asks(.init(method: "GET")), .settle, .breaks(connection: 0, .pushSetting), .settle])
        ),
        (
            "the first request on a connection is sent before its origin has sent anything",
            OriginCourse([.asks(.init(method: "GET")), .settle], greetings: [.init(isLate: true)])
        ),
        (
            "a request that waits for a stream is not sent when the session ends",
            OriginCourse(
                [
                    .asks(.init(method: "GET")), .asks(.init(method: "GET")), .asks(.init(method: "GET")), .settle,
                    .asks(.init(method: "DELETE")), .settings(connection: 0, .init(streams: 3)), .settle,
                ], ending: .closes)
        ),
    ]

    @Test(arguments: Self.courses.map(\.name)) func `a course keeps what the model says`(name: String) async throws {
        let folder = try TemporaryFolder()
        let run = CourseRun<OriginCourse>(.courses(Self.courses.filter { $0.name == name }.map(\.course)), in: folder)
        let place = try await run.result(in: Self.play)
        #expect(place.isDone, "\(place)")
    }

    @Test func `a course that is wrong is found, and shrinks to nothing`() async throws {
        var course = OriginCourse(seed: 1)
        course.isWrong = true
        let folder = try TemporaryFolder()
        let shrunk = try #require(try await CourseRun<OriginCourse>.shrink(course, in: folder, by: Self.play))
        #expect(shrunk.course.steps.isEmpty && shrunk.breaches == ["the test says so"], "\(shrunk)")
    }

    @Test func `a seed gives the same course each time`() {
        #expect("\(OriginCourse(seed: 7))" == "\(OriginCourse(seed: 7))")
        #expect("\(OriginCourse(seed: 7))" != "\(OriginCourse(seed: 8))")
    }
}
