// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Waiting for something not to happen.
///
/// No event says that nothing will come. What can be waited for is an event of the proxy's own that is due later than
/// the one that must not come: it gives up a client whose head never ends, after `limits.header_timeout`, which the
/// test sets. On a busy machine that comes later, and so does everything else.
extension PintleProcess {
    /// Waits until the proxy has let its `limits.header_timeout` pass.
    func waitForHeaderTimeout() throws {
        let witness = try self.connect()
        try witness.send("GET ")
        _ = try witness.readToEnd()
    }

    /// Waits until a number stays the same while the proxy lets its `limits.header_timeout` pass.
    func waitUntilStill(_ amount: Watched<Int>) throws {
        var before: Int
        repeat {
            before = amount.current
            try self.waitForHeaderTimeout()
        } while amount.current != before
    }
}
