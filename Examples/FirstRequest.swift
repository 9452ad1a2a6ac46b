// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTrust

/// Asks a server whose key is one of two.
func firstRequest(to url: String, inUse: String, backup: String) async throws {
    let engine = try Engine(threads: 1)
    let policy = try SecurityPolicy(pinning: .publicKey, pins: [Pin(inUse), Pin(backup)])  // "sha256/…"
    let session = try Session(engine: engine, policy: policy)

    let result = try await session.data(for: SessionRequest("GET", url))
    print(result.response.status, String(buffer: result.body))

    await session.finishTasksAndInvalidate()
    engine.stop()
}
