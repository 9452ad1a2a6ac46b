// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

@testable import PintleProxy

/// Exchanges that share a lane, driven by random events on both sides, against a plain model: what each side has sent, and
/// the rules of what the other must have seen (``ModelRecord``, ``ModelClient``, ``ModelOrigin``).
///
/// The courses are the same each time. `PINTLE_STEPS` sets how many events are played, and `PINTLE_SEED` another first course.
struct ExchangeModelTests {
    /// As many as take about eighty seconds of a processor.
    private static var steps: Int { getenv("PINTLE_STEPS").flatMap { Int(String(cString: $0)) } ?? 1_000_000 }

    @Test func `exchanges keep what the model says, whatever the order of events`() async throws {
        let folder = try TemporaryFolder()
        let seed = getenv("PINTLE_SEED").flatMap { UInt64(String(cString: $0)) } ?? 5
        let place = try await CourseRun(work: .seeds(from: seed, steps: Self.steps), file: folder.path + "/run")
            .result()
        if place.isDone { return }
        let wrong = seed &+ UInt64(place.index)
        let told = "PINTLE_SEED=\(wrong), after \(place.steps) events: \(place.breaches)"
        guard let (course, breaches) = try await CourseRun.shrink(Course(seed: wrong), in: folder) else {
            Issue.record("\(told)\nalone it is right:\n\(Course(seed: wrong))")
            return
        }
        Issue.record("\(told)\nas short as it gets, with \(breaches):\n\(course)")
    }

    @Test func `a course without events is right`() async throws {
        let folder = try TemporaryFolder()
        let courses = ModelConfiguration.all.indices.map { Course(configuration: $0, steps: []) }
        let place = try await CourseRun(work: .courses(courses), file: folder.path + "/run").result()
        #expect(place.isDone, "\(place)")
    }

    @Test func `a course that is wrong is found, and shrinks to nothing`() async throws {
        let folder = try TemporaryFolder()
        var course = Course(seed: 1)
        course.isWrong = true
        let shrunk = try #require(try await CourseRun.shrink(course, in: folder))
        #expect(shrunk.0.steps.isEmpty && shrunk.1 == ["the test says so"], "\(shrunk)")
    }

    @Test func `a seed gives the same course each time`() {
        #expect("\(Course(seed: 7))" == "\(Course(seed: 7))")
        #expect("\(Course(seed: 7))" != "\(Course(seed: 8))")
    }
}
