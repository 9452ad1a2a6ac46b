// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleProxy

/// Exchanges that share a worker, driven by random events on both sides, against a plain model: the bytes that each side has
/// sent, and the rules for what the other side must have seen (``ModelRecord``, ``ModelClient``, ``ModelOrigin``).
///
/// The courses are the same each time. `PINTLE_STEPS` sets the number of events, and `PINTLE_SEED` the seed of the first
/// course.
struct ExchangeModelTests {
    /// Plays a job of courses in a separate process.
    private static func play(_ job: String) async {
        await withKnownIssue("a course may be wrong", isIntermittent: true) {
            await #expect(processExitsWith: .success) { [job = job as String] in
                try CourseRun<Course>.performOnStages(job)
            }
        }
    }

    @Test func `exchanges keep what the model says, whatever the order of events`() async throws {
        // This number takes about eighty seconds of processor time.
        let fault = try await CourseRun<Course>.fault(from: 5, steps: 1_000_000, by: Self.play)
        #expect(fault == nil, "\(fault ?? "")")
    }

    @Test func `a course without events is right`() async throws {
        let folder = try TemporaryFolder()
        let courses = ModelConfiguration.all.indices.map { Course(configuration: $0, steps: []) }
        let place = try await CourseRun<Course>(.courses(courses), in: folder).result(in: Self.play)
        #expect(place.isDone, "\(place)")
    }

    @Test func `a course that is wrong is found, and shrinks to nothing`() async throws {
        let folder = try TemporaryFolder()
        var course = Course(seed: 1)
        course.isWrong = true
        let shrunk = try #require(try await CourseRun<Course>.shrink(course, in: folder, by: Self.play))
        #expect(shrunk.course.steps.isEmpty && shrunk.breaches == ["the test says so"], "\(shrunk)")
    }

    @Test func `a seed gives the same course each time`() {
        #expect("\(Course(seed: 7))" == "\(Course(seed: 7))")
        #expect("\(Course(seed: 7))" != "\(Course(seed: 8))")
    }
}
