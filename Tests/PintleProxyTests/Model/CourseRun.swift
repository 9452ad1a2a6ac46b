// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleSession
import PintleTesting
import Testing

@testable import PintleProxy

/// Courses that are played in a process of their own, since some mistakes end theirs.
struct CourseRun: Codable, Sendable {
    enum Work: Codable, Sendable {
        /// Courses of so many seeds from one on, until so many events were played.
        case seeds(from: UInt64, steps: Int)
        case courses([Course])
    }

    var work: Work
    /// Where the process writes what it is at.
    let file: String

    /// Where a process is, as it has written it: the course under way, what is wrong with it, and the events so far.
    struct Place: Codable, Sendable {
        var index = 0
        var steps = 0
        var breaches: [String] = []
        var isDone = false
    }

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
        var stages: [Int: ModelStage] = [:]
        func play(_ course: Course) throws -> Bool {
            pen.note(index: place.index, steps: place.steps)
            let stage =
                try stages[course.configuration]
                ?? ModelStage(
                    ModelConfiguration.all[course.configuration], on: engine)
            stages[course.configuration] = stage
            place.breaches = try stage.play(course)
            place.steps += course.steps.count
            return place.breaches.isEmpty
        }
        switch self.work {
        case .seeds(let first, let steps):
            while place.steps < steps, try play(Course(seed: first &+ UInt64(place.index))) { place.index += 1 }
        case .courses(let courses):
            while place.index < courses.count, try play(courses[place.index]) { place.index += 1 }
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

        func end(_ place: Place) throws {
            try JSONEncoder().encode(place).write(to: URL(fileURLWithPath: self.path))
        }
    }

    // MARK: Outside of it

    /// Has it played, and tells how far it has come. A process that was ended by what it did has come to that.
    func result() async throws -> Place {
        let job = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        await withKnownIssue("a course may be wrong", isIntermittent: true) {
            await #expect(processExitsWith: .success) { [job = job as String] in
                try JSONDecoder().decode(CourseRun.self, from: Data(job.utf8)).perform()
            }
        }
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

    /// Takes events out of a course as long as it stays wrong.
    ///
    /// - Returns: a short course that is wrong, and what is wrong with it; nil if the course is right when it is played alone.
    static func shrink(_ course: Course, in folder: TemporaryFolder) async throws -> (Course, [String])? {
        var (runs, shortest) = (0, course)
        func firstWrong(of courses: [Course]) async throws -> Place? {
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

extension Course {
    /// Courses of as many events that are easier to read.
    fileprivate var simpler: [Course] {
        self.steps.indices.flatMap { index -> [Course] in
            var steps: [Step] = []
            switch self.steps[index] {
            case .asks(let client, let request):
                var simple = request
                (simple.user, simple.variant) = (0, 0)
                if simple.user != request.user || simple.variant != request.variant {
                    steps.append(.asks(client: client, simple))
                }
                if request.size > 3 {
                    simple = request
                    simple.size = 3
                    steps.append(.asks(client: client, simple))
                }
            case .answers(let origin, let answer) where answer.isChunked:
                var simple = answer
                simple.isChunked = false
                steps.append(.answers(origin: origin, simple))
            default: break
            }
            return steps.map { step in
                var course = self
                course.steps[index] = step
                return course
            }
        }
    }
}
