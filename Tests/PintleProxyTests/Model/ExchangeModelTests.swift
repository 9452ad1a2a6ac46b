// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleProxy

/// Exchanges that share a lane, driven by random events on both sides, against a plain model: what each side has sent, and
/// the rules of what the other must have seen (``ModelRecord``, ``ModelClient``, ``ModelOrigin``).
///
/// The courses are the same each time. `PINTLE_STEPS` sets how many events are played, and `PINTLE_SEED` another first course.
struct ExchangeModelTests {
    @Test func `exchanges keep what the model says, whatever the order of events`() async throws {
        // As many as take about eighty seconds of a processor.
        try await CourseRun<Course>.play(1_000_000, from: 5)
    }

    @Test func `a course without events is right`() async throws {
        let folder = try TemporaryFolder()
        let courses = ModelConfiguration.all.indices.map { Course(configuration: $0, steps: []) }
        let place = try await CourseRun<Course>(work: .courses(courses), file: folder.path + "/run").result()
        #expect(place.isDone, "\(place)")
    }

    @Test func `a course that is wrong is found, and shrinks to nothing`() async throws {
        let folder = try TemporaryFolder()
        var course = Course(seed: 1)
        course.isWrong = true
        let shrunk = try #require(try await CourseRun<Course>.shrink(course, in: folder))
        #expect(shrunk.0.steps.isEmpty && shrunk.1 == ["the test says so"], "\(shrunk)")
    }

    @Test func `a seed gives the same course each time`() {
        #expect("\(Course(seed: 7))" == "\(Course(seed: 7))")
        #expect("\(Course(seed: 7))" != "\(Course(seed: 8))")
    }
}
