// SPDX-License-Identifier: Apache-2.0

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
}
