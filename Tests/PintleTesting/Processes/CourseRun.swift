// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A random course of events for a model test, with everything that is needed to play it again.
package protocol PlayableCourse: Codable, Sendable, CustomStringConvertible {
    associatedtype Step

    /// Draws a course; the same seed gives the same one.
    init(seed: UInt64)

    /// The events. A course without some of its events is still a course.
    var steps: [Step] { get set }

    /// Courses of as many events that are easier to read.
    var simpler: [Self] { get }
}

/// Courses that are played in a separate process, since some mistakes end the process.
package struct CourseRun<Course: PlayableCourse>: Codable, Sendable {
    package enum Work: Codable, Sendable {
        /// Courses of consecutive seeds, until this many events were played.
        case seeds(from: UInt64, steps: Int)
        case courses([Course])
    }

    private let work: Work
    /// The file in which the process records its progress.
    private let file: String

    /// Makes a run that has not begun.
    ///
    /// - Parameter name: the name of its file in the folder; unique among runs.
    package init(_ work: Work, in folder: TemporaryFolder, as name: String = "run") {
        (self.work, self.file) = (work, "\(folder.path)/\(name)")
    }

    /// The progress that a process has recorded: the course under way, the breaches found in it, and the events so far.
    package struct Place: Codable, Sendable {
        package var index = 0
        package var steps = 0
        package var breaches: [String] = []
        package var isDone = false

        /// A course that does not end is not shortened: each attempt would take as long.
        fileprivate var isEndless: Bool { self.breaches == [Self.endless] }
        fileprivate static var endless: String { "the course does not end" }
    }

    // MARK: In the process

    /// Plays all courses until one has a breach, and ends the process.
    ///
    /// Errors are not thrown: they would end the process by a trap, which looks like a mistake of the tested code.
    ///
    /// - Parameters:
    ///   - job: the text that ``result(in:)`` gave to the process.
    ///   - play: plays one course, and returns its breaches.
    package static func perform(_ job: String, by play: (Course) throws -> [String]) throws -> Never {
        let run = try JSONDecoder().decode(Self.self, from: Data(job.utf8))
        let pen = try Pen(run.file)
        var place = Place()
        run.watchForEnd(of: pen)
        do { try run.play(&place, pen, play) } catch { place.breaches = ["the course cannot be played: \(error)"] }
        place.isDone = place.breaches.isEmpty
        try pen.end(place)
        Self.end(place.isDone ? 0 : 1)
    }

    /// Ends the process without the work of exit(3). Loops and stages are still in use, and LeakSanitizer, which does not recognise
    /// an address that shares its word with the case of an enum, would call parts of them lost. Courses test themselves that what
    /// they used is freed.
    private static func end(_ code: Int32) -> Never { _exit(code) }

    /// Ends the process if a course takes longer than ``Patience``, and records which one.
    private func watchForEnd(of pen: Pen) {
        Thread.detachNewThread {
            var seen = 0
            while true {
                do {
                    seen = try pen.begun.wait(for: "the next course") { $0.count != seen }.count
                } catch {
                    var place = pen.begun.current.place
                    place.breaches = [Place.endless]
                    try? pen.end(place)
                    Self.end(1)
                }
            }
        }
    }

    private func play(_ place: inout Place, _ pen: Pen, _ play: (Course) throws -> [String]) throws {
        func isRight(_ course: Course) throws -> Bool {
            pen.note(place)
            place.breaches = try play(course)
            place.steps += course.steps.count
            return place.breaches.isEmpty
        }
        switch self.work {
        case .seeds(let first, let steps):
            while place.steps < steps, try isRight(Course(seed: first &+ UInt64(place.index))) { place.index += 1 }
        case .courses(let courses):
            while place.index < courses.count, try isRight(courses[place.index]) { place.index += 1 }
        }
    }

    /// Records the progress: two numbers that cost one write for each course, and everything at the end.
    private struct Pen: Sendable {
        private let descriptor: Int32
        private let path: String
        /// The number of courses that have begun, and the place of the last one.
        let begun = Watched((count: 0, place: Place()))

        init(_ path: String) throws {
            self.path = path
            self.descriptor = open(path + ".at", O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
            guard self.descriptor >= 0 else { throw TestFailure("\(path) cannot be written") }
        }

        func note(_ place: Place) {
            self.begun.change { $0 = ($0.count + 1, place) }
            let numbers = [place.index, place.steps]
            _ = numbers.withUnsafeBytes { pwrite(self.descriptor, $0.baseAddress, $0.count, 0) }
        }

        func end(_ place: Place) throws {
            try JSONEncoder().encode(place).write(to: URL(fileURLWithPath: self.path))
        }
    }

    // MARK: Outside of it

    /// Plays the courses in another process, and returns its progress. If the process was ended by the tested code, that is
    /// its result.
    ///
    /// - Parameter process: makes another process call ``perform(_:by:)`` with the given job, and waits for its end.
    package func result(in process: (String) async -> Void) async throws -> Place {
        await process(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
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

    /// Takes events out of a course as long as it keeps a breach.
    ///
    /// - Returns: a short course with its breaches; nil if the course has none when it is played alone.
    package static func shrink(
        _ course: Course, in folder: TemporaryFolder, by process: (String) async -> Void
    ) async throws -> (course: Course, breaches: [String])? {
        var (runs, shortest) = (0, course)
        func firstWrong(of courses: [Course]) async throws -> Place? {
            runs += 1
            let place = try await CourseRun(.courses(courses), in: folder, as: "shrink\(runs)").result(in: process)
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

    /// Plays the courses of consecutive seeds, and describes the first one with a breach, shortened as far as possible.
    ///
    /// - Parameters:
    ///   - seed: the first seed; `PINTLE_SEED` overrides it.
    ///   - steps: the number of events to play; `PINTLE_STEPS` overrides it.
    ///   - process: see ``result(in:)``.
    /// - Returns: nil if no course has a breach.
    package static func fault(
        from seed: UInt64, steps: Int, by process: (String) async -> Void
    ) async throws -> String? {
        let seed = getenv("PINTLE_SEED").flatMap { UInt64(String(cString: $0)) } ?? seed
        let steps = getenv("PINTLE_STEPS").flatMap { Int(String(cString: $0)) } ?? steps
        let folder = try TemporaryFolder()
        let place = try await CourseRun(.seeds(from: seed, steps: steps), in: folder).result(in: process)
        if place.isDone { return nil }
        let wrong = Course(seed: seed &+ UInt64(place.index))
        if place.isEndless { return "PINTLE_SEED=\(seed &+ UInt64(place.index)) \(place.breaches)" }
        let told = "PINTLE_SEED=\(seed &+ UInt64(place.index)), after \(place.steps) events: \(place.breaches)"
        guard let shrunk = try await Self.shrink(wrong, in: folder, by: process) else {
            return "\(told)\nalone it is right:\n\(wrong)"
        }
        return "\(told)\nas short as it gets, with \(shrunk.breaches):\n\(shrunk.course)"
    }
}
