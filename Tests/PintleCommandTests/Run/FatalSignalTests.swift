// SPDX-License-Identifier: Apache-2.0

import CPintleProcess
import Testing

/// Ends by a fault of the process's own, which no test can bring about from outside.
struct FatalSignalTests {
    @Test func `LOOK-110 a failed check of one's own code is told as a defect, behind the reason`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            pintle_tell_of_fatal_signals()
            fatalError("the reason")
        }
        // Swift's backtrace may follow.
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("pintle:") }
        #expect(
            line?.hasPrefix("pintle: ended by SIG") == true
                && line?.hasSuffix(
                    " (a check of its code failed): a defect of pintle; please report it with the lines around this one, "
                        + "with what `pintle version` says and with what it was doing") == true,
            "\(lines)")
        #expect(lines.contains { $0.contains("the reason") }, "\(lines)")
    }
}
