// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Ends of the process by its own fault.
struct FatalSignalTests {
    @Test(
        arguments: [
            (SIGSEGV, "SIGSEGV"), (SIGILL, "SIGILL"), (SIGTRAP, "SIGTRAP"), (SIGABRT, "SIGABRT"), (SIGBUS, "SIGBUS"),
            (SIGFPE, "SIGFPE"),
        ])
    func `LOOK-110 a fatal signal is told in a line, and ends the process`(number: Int32, name: String) throws {
        let proxy = try PintleProcess()
        proxy.process.signal(number)
        #expect(try proxy.process.waitForExit() == 128 + number)
        #expect(
            proxy.process.errors.contains("pintle: ended by \(name), which process \(getpid()) has sent"),
            "\(proxy.process.lines)")
    }
}
