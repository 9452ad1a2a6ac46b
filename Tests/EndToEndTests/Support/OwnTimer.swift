// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Waiting for an event that must not happen.
///
/// No event reports that another will not come. But the test can wait for a later event of the proxy's own: it drops a
/// client whose head never ends, after `limits.header_timeout`, which the test sets. On a busy machine that comes later,
/// and so does everything else.
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
