// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why a part of a test's surroundings did not do its job; the test that meets it fails with these words.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// How long anything may take before it counts as hung. Far beyond what a busy machine needs: no test waits for it
/// unless it fails. The system's resolver gives up after 150 s, which must be later (``NetworkNamespace``).
package enum Patience {
    package static let seconds = 120.0
    static let milliseconds = Int32(120_000)

    /// Asks again and again, about something whose change wakes nobody, until it is so.
    ///
    /// - Throws: ``TestFailure`` naming `what` after ``seconds``, and what `isReached` throws.
    package static func wait(for what: @autoclosure () -> String, until isReached: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(self.seconds)
        while try !isReached() {
            guard .now < end else { throw TestFailure("asked \(self.seconds) s for \(what())") }
            // The answer may be up to a thread that has no processor yet.
            sched_yield()
        }
    }
}
