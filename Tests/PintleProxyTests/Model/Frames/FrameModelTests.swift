// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleProxy

/// A client that speaks HTTP/2 with the proxy frame by frame, and origins, driven by random events, against a plain model
/// of what each side must have seen (``FrameModel``).
///
/// The courses are the same each time. `PINTLE_STEPS` sets the number of events, and `PINTLE_SEED` the seed of the first
/// course.
struct FrameModelTests {
    /// Plays a job of courses in a separate process.
    private static func play(_ job: String) async {
        await withKnownIssue("a course may be wrong", isIntermittent: true) {
            await #expect(processExitsWith: .success) { [job = job as String] in
                try CourseRun<FrameCourse>.performOnStages(job)
            }
        }
    }

    @Test func `connections of HTTP 2 keep what the model says, whatever the order of events`() async throws {
        // More would meet courses in which debug builds of SwiftNIO's codec (swift-nio-http2 1.46) trap, since content passes heads
        // of other streams that were not flushed.
        let fault = try await CourseRun<FrameCourse>.fault(from: 1, steps: 12_000, by: Self.play)
        #expect(fault == nil, "\(fault ?? "")")
    }

    /// Courses that random ones have led to.
    static let courses: [(name: String, course: FrameCourse)] = [
        (
            "a stream is reset once, though trailers follow a body that is too long",
            FrameCourse(
                configuration: 0,
                steps: [.opens(.init(method: "POST", body: .tooLong, size: 3)), .trailers(stream: 0)])
        ),
        (
            "a stream is reset once, though its answer ends as a body that is too long comes",
            FrameCourse(
                configuration: 0,
                steps: [
                    .opens(.init(method: "POST", body: .tooLong, size: 3)), .turn, .turn, .turn,
                    .answers(origin: 0, .init()), .ends(origin: 0), .endsBody(stream: 0),
                ])
        ),
        (
            "a body that crosses the end holds up no other stream",
            FrameCourse(
                configuration: 0,
                steps: [
                    .opens(.init()), .turn, .opens(.init(method: "POST", body: .undeclared, size: 70_000)),
                    .answers(origin: 0, .init()), .drains, .endsBody(stream: 1),
                ])
        ),
        (
            "a request that crosses the end takes nothing with it that its client has not read",
            FrameCourse(configuration: 0, steps: [.stopsReading, .drains, .opens(.init()), .turn, .turn])
        ),
    ]

    @Test(arguments: Self.courses.map(\.name)) func `a course of frames keeps what the model says`(
        name: String
    ) async throws {
        let folder = try TemporaryFolder()
        let courses = Self.courses.filter { $0.name == name }.map(\.course)
        let place = try await CourseRun<FrameCourse>(.courses(courses), in: folder).result(in: Self.play)
        #expect(place.isDone, "\(place)")
    }

    @Test func `a course of frames without events is right`() async throws {
        let folder = try TemporaryFolder()
        let courses = FrameConfiguration.all.indices.flatMap { configuration in
            FrameCourse.End.allCases.map { FrameCourse(configuration: configuration, steps: [], end: $0) }
        }
        let place = try await CourseRun<FrameCourse>(.courses(courses), in: folder).result(in: Self.play)
        #expect(place.isDone, "\(place)")
    }

    @Test func `a course of frames that is wrong is found, and shrinks to nothing`() async throws {
        let folder = try TemporaryFolder()
        var course = FrameCourse(seed: 1)
        course.isWrong = true
        let shrunk = try #require(try await CourseRun<FrameCourse>.shrink(course, in: folder, by: Self.play))
        #expect(shrunk.course.steps.isEmpty && shrunk.breaches == ["the test says so"], "\(shrunk)")
    }
}
