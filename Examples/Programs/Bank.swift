// SPDX-License-Identifier: Apache-2.0

import Pintle

private struct Transfer: Encodable, Sendable {
    let from: String, to: String, cents: Int
}
private struct Account: Decodable, Sendable {
    let cents: Int
}

/// Moves money at a bank whose key is one of two, with this program's client certificate; a transfer without an answer is
/// sent again under the same name, which the bank carries out once.
func transfer(
    _ cents: Int, at base: String, roots: SecurityPolicy.Roots, pins: [Pin], identity: ClientIdentity
) async throws {
    var configuration = SessionConfiguration()
    configuration.clientIdentity = identity
    configuration.redirects = .never
    let policy = try SecurityPolicy(pinning: .publicKey, pins: Set(pins), roots: roots)
    var bank = try HTTPSession(base: base, configuration: configuration, policy: policy)
    bank.interceptors = [.retry()]

    let name = "\(UInt64.random(in: .min ... .max))"
    try await bank.post("transfers", json: Transfer(from: "A", to: "B", cents: cents)) {
        $0.fields.set("Idempotency-Key", name)
        $0.isIdempotent = true
    }
    print("A has \(try await bank.get("accounts/A", as: Account.self).cents) cents")
}
