// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Asks a server whose key is one of two.
func firstRequest(to url: String, inUse: String, backup: String) async throws {
    let policy = try SecurityPolicy(pinning: .publicKey, pins: [Pin(inUse), Pin(backup)])  // "sha256/…"
    let session = try Session(policy: policy)

    let result = try await session.data(for: SessionRequest("GET", url))
    print(result.response.status, result.text)
}
