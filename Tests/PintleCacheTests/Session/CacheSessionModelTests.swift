// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The session of a key, driven by random events on all sides, against plain rules for what a client may get
/// (``SessionLaw``).
///
/// The courses are the same each time. `PINTLE_STEPS` sets the number of events, and `PINTLE_SEED` the seed of the first
/// course. Standard error has the seed of each thousandth course, because a mistake may end the process.
struct CacheSessionModelTests {
    private static func breaches(of course: SessionCourse) -> [String] { SessionStage(course).play() }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test func `clients of one key get what the plain rules allow, whatever the order of events`() {
        let first = Self.number("PINTLE_SEED") ?? 1
        let most = Self.number("PINTLE_STEPS").map(Int.init) ?? 150_000
        var (seed, steps, counts) = (first, 0, [String: Int]())
        while steps < most {
            if (seed - first) % 1000 == 0 { FileHandle.standardError.write(Data("PINTLE_SEED=\(seed)\n".utf8)) }
            let course = SessionCourse(seed: seed)
            let stage = SessionStage(course)
            let breaches = stage.play()
            if !breaches.isEmpty {
                let shortest = Self.shrink(course)
                Issue.record(
                    """
                    PINTLE_SEED=\(seed), after \(steps) events: \(breaches)
                    as short as it gets, with \(Self.breaches(of: shortest)):
                    \(shortest)
                    """)
                return
            }
            for (way, count) in stage.counts { counts[way, default: 0] += count }
            steps += course.steps.count
            seed += 1
        }
        let ways = ["own", "confirmed", "shared", "stale", "stored", "miss", "failure", "renewal", "join", "found"]
        for way in ways where most >= 100_000 { #expect(counts[way] ?? 0 >= 10, "\(way)") }
    }

    @Test func `a seed gives the same course each time`() {
        #expect("\(SessionCourse(seed: 7))" == "\(SessionCourse(seed: 7))")
        #expect("\(SessionCourse(seed: 7))" != "\(SessionCourse(seed: 8))")
    }

    /// Takes events out of a course as long as it keeps a breach.
    private static func shrink(_ course: SessionCourse) -> SessionCourse {
        var (shortest, size) = (course, max(1, course.steps.count / 2))
        while true {
            let candidates = stride(from: 0, to: shortest.steps.count, by: size).map { start in
                var candidate = shortest
                candidate.steps.removeSubrange(start..<min(start + size, shortest.steps.count))
                return candidate
            }
            if let shorter = (candidates + shortest.simpler).first(where: { !Self.breaches(of: $0).isEmpty }) {
                shortest = shorter
            } else if size == 1 {
                return shortest
            } else {
                size /= 2
            }
        }
    }
}
