// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleSession
import PintleTesting
import Testing

@testable import PintleProxy

/// A course of random events, which a stage plays.
protocol ModelCourse: Codable, Sendable, CustomStringConvertible {
    associatedtype Step
    associatedtype Stage: ModelCourseStage where Stage.Course == Self

    static var kind: CourseKind { get }
    /// The number of the stage that it is for.
    var configuration: Int { get }
    var steps: [Step] { get set }
    /// True for the mistake by which a test shows that mistakes are found and shrunk.
    var isWrong: Bool { get set }
    /// Courses of as many events that are easier to read.
    var simpler: [Self] { get }

    /// Draws a course.
    init(seed: UInt64)
}

/// Plays courses of one configuration, one after the other.
protocol ModelCourseStage {
    associatedtype Course

    init(configuration: Int, on engine: Engine) throws

    /// Plays a course.
    ///
    /// - Returns: what was wrong; empty if nothing was.
    func play(_ course: Course) throws -> [String]
}

/// Names the kinds of courses for processes that play some.
enum CourseKind: String, Codable {
    case exchanges, clientFrames

    /// Plays what a job says, and ends the process.
    func perform(_ job: String) throws -> Never {
        let data = Data(job.utf8)
        switch self {
        case .exchanges: try JSONDecoder().decode(CourseRun<Course>.self, from: data).perform()
        case .clientFrames: try JSONDecoder().decode(CourseRun<FrameCourse>.self, from: data).perform()
        }
    }

    /// Has a process of its own do it.
    func performElsewhere(_ job: String) async {
        let kind = self.rawValue
        await withKnownIssue("a course may be wrong", isIntermittent: true) {
            await #expect(processExitsWith: .success) { [kind = kind as String, job = job as String] in
                try CourseKind(rawValue: kind)?.perform(job)
            }
        }
    }
}

/// Where a process is, as it has written it: the course under way, what is wrong with it, and the events so far.
struct CoursePlace: Codable, Sendable {
    var index = 0
    var steps = 0
    var breaches: [String] = []
    var isDone = false
}

/// Courses that are played in a process of their own, since some mistakes end theirs.
struct CourseRun<Played: ModelCourse>: Codable, Sendable {
    typealias Place = CoursePlace

    enum Work: Codable, Sendable {
        /// Courses of so many seeds from one on, until so many events were played.
        case seeds(from: UInt64, steps: Int)
        case courses([Played])
    }

    var work: Work
    /// Where the process writes what it is at.
    let file: String

    // MARK: In the process

    /// Plays everything until something is wrong, and ends the process.
    ///
    /// An error would end it by a trap, which looks like a mistake of the exchange's.
    func perform() throws -> Never {
        let pen = try Pen(self.file)
        var place = Place()
        do { try self.play(&place, pen) } catch { place.breaches = ["the course cannot be played: \(error)"] }
        place.isDone = place.breaches.isEmpty
        try pen.end(place)
        exit(place.isDone ? 0 : 1)
    }

    private func play(_ place: inout Place, _ pen: Pen) throws {
        let engine = try Engine(threads: 1)
        var stages: [Int: Played.Stage] = [:]
        func play(_ course: Played) throws -> Bool {
            pen.note(index: place.index, steps: place.steps)
            let stage =
                try stages[course.configuration] ?? Played.Stage(configuration: course.configuration, on: engine)
            stages[course.configuration] = stage
            place.breaches = try stage.play(course)
            place.steps += course.steps.count
            return place.breaches.isEmpty
        }
        switch self.work {
        case .seeds(let first, let steps):
            while place.steps < steps, try play(Played(seed: first &+ UInt64(place.index))) { place.index += 1 }
        case .courses(let courses):
            while place.index < courses.count, try play(courses[place.index]) { place.index += 1 }
        }
    }

    // MARK: Outside of it

    /// Has it played, and tells how far it has come. A process that was ended by what it did has come to that.
    func result() async throws -> Place {
        let job = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        await Played.kind.performElsewhere(job)
        if let data = FileManager.default.contents(atPath: self.file) {
            return try JSONDecoder().decode(Place.self, from: data)
        }
        guard let data = FileManager.default.contents(atPath: self.file + ".at"), data.count == 16 else {
            throw TestFailure("the process that plays courses does not begin")
        }
        let numbers = data.withUnsafeBytes {
            [$0.loadUnaligned(as: Int.self), $0.loadUnaligned(fromByteOffset: 8, as: Int.self)]
        }
        return Place(index: numbers[0], steps: numbers[1], breaches: ["the process ends"])
    }

    /// Plays courses from a seed on, which `PINTLE_SEED` may name, and tells of the first that is wrong, as short as it gets.
    ///
    /// - Parameters:
    ///   - steps: the events to be played, unless `PINTLE_STEPS` says how many.
    ///   - seed: the first seed, unless `PINTLE_SEED` says which.
    static func play(_ steps: Int, from seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let steps = getenv("PINTLE_STEPS").flatMap { Int(String(cString: $0)) } ?? steps
        let seed = getenv("PINTLE_SEED").flatMap { UInt64(String(cString: $0)) } ?? seed
        let place = try await Self(work: .seeds(from: seed, steps: steps), file: folder.path + "/run").result()
        if place.isDone { return }
        let wrong = seed &+ UInt64(place.index)
        let told = "PINTLE_SEED=\(wrong), after \(place.steps) events: \(place.breaches)"
        guard let (course, breaches) = try await Self.shrink(Played(seed: wrong), in: folder) else {
            Issue.record("\(told)\nalone it is right:\n\(Played(seed: wrong))")
            return
        }
        Issue.record("\(told)\nas short as it gets, with \(breaches):\n\(course)")
    }

    /// Takes events out of a course as long as it stays wrong.
    ///
    /// - Returns: a short course that is wrong, and what is wrong with it; nil if the course is right when it is played alone.
    static func shrink(_ course: Played, in folder: TemporaryFolder) async throws -> (Played, [String])? {
        var (runs, shortest) = (0, course)
        func firstWrong(of courses: [Played]) async throws -> Place? {
            runs += 1
            let place = try await CourseRun(work: .courses(courses), file: folder.path + "/shrink\(runs)").result()
            return place.isDone ? nil : place
        }
        guard var found = try await firstWrong(of: [course]) else { return nil }
        var size = max(1, course.steps.count / 2)
        while runs < 100 {
            let steps = shortest.steps
            var candidates = stride(from: 0, to: steps.count, by: size).map { start in
                var candidate = shortest
                candidate.steps.removeSubrange(start..<min(start + size, steps.count))
                return candidate
            }
            if size == 1 { candidates += shortest.simpler }
            if !candidates.isEmpty, let place = try await firstWrong(of: candidates) {
                (shortest, found) = (candidates[place.index], place)
                size = min(size, max(1, shortest.steps.count / 2))
            } else if size == 1 {
                break
            } else {
                size /= 2
            }
        }
        return (shortest, found.breaches)
    }
}

/// Writes where the process is: two numbers that cost a write each time, and at the end everything.
private struct Pen {
    private let descriptor: Int32
    private let path: String

    init(_ path: String) throws {
        self.path = path
        self.descriptor = open(path + ".at", O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        guard self.descriptor >= 0 else { throw TestFailure("\(path) cannot be written") }
    }

    func note(index: Int, steps: Int) {
        let numbers = [index, steps]
        _ = numbers.withUnsafeBytes { pwrite(self.descriptor, $0.baseAddress, $0.count, 0) }
    }

    func end(_ place: CoursePlace) throws {
        try JSONEncoder().encode(place).write(to: URL(fileURLWithPath: self.path))
    }
}
