// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A failure in a test's surroundings; the test that meets it fails with this description.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The time after which any operation counts as hung. Far longer than a busy machine needs: no test waits for it unless it
/// fails. The system's resolver gives up after 150 s, which must be later (``NetworkNamespace``).
package enum Patience {
    package static let seconds = 120.0
    static let milliseconds = Int32(120_000)

    /// Polls until `isReached` returns true, for conditions whose change cannot be waited for.
    ///
    /// - Throws: ``TestFailure`` naming `what` after ``seconds``, and errors of `isReached`.
    package static func wait(for what: @autoclosure () -> String, until isReached: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(self.seconds)
        while try !isReached() {
            guard .now < end else { throw TestFailure("asked \(self.seconds) s for \(what())") }
            // The condition may depend on a thread that has no processor yet.
            sched_yield()
        }
    }
}
