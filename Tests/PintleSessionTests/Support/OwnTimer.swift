// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleSession
import PintleTesting

/// Waiting for something not to happen: until an event of the session's own that is due later, on a busy machine, too.
extension SessionStage {
    /// Waits until a request whose origin is silent has run into a time limit of `timeout` milliseconds.
    func waitForTimeout(_ timeout: Int64) async throws {
        let silent = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        guard await self.failure(of: request(silent.port, timeout: .milliseconds(timeout)))?.code == .timeout else {
            throw TestFailure("a request to a silent origin did not run into its time limit")
        }
    }

    /// Waits until a number stays the same while a request runs into a time limit of a second.
    func waitUntilStill(_ amount: Watched<Int>) async throws {
        var before: Int
        repeat {
            before = amount.current
            try await self.waitForTimeout(1000)
        } while amount.current != before
    }
}
