// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleProxy

/// A client that speaks HTTP/2 with the proxy frame by frame, and origins behind it, driven by random events, against a plain
/// model of what each side must have seen (``FrameModel``).
///
/// The courses are the same each time. `PINTLE_STEPS` sets how many events are played, and `PINTLE_SEED` another first course.
struct FrameModelTests {
    @Test func `connections of HTTP 2 keep what the model says, whatever the order of events`() async throws {
        // As many as take about half a minute of a processor.
        try await CourseRun<FrameCourse>.play(20_000, from: 1)
    }

    @Test func `a course of frames without events is right`() async throws {
        let folder = try TemporaryFolder()
        let courses = FrameConfiguration.all.indices.flatMap { configuration in
            FrameCourse.End.allCases.map { FrameCourse(configuration: configuration, steps: [], end: $0) }
        }
        let place = try await CourseRun<FrameCourse>(work: .courses(courses), file: folder.path + "/run").result()
        #expect(place.isDone, "\(place)")
    }

    @Test func `a course of frames that is wrong is found, and shrinks to nothing`() async throws {
        let folder = try TemporaryFolder()
        var course = FrameCourse(seed: 1)
        course.isWrong = true
        let shrunk = try #require(try await CourseRun<FrameCourse>.shrink(course, in: folder))
        #expect(shrunk.0.steps.isEmpty && shrunk.1 == ["the test says so"], "\(shrunk)")
    }
}
