// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL

private struct Transfer: Encodable, Sendable {
    let from: String, to: String, cents: Int
}
private struct Account: Decodable, Sendable {
    let cents: Int
}
private struct Refusal: Error { let status: HTTPResponseStatus }

/// Moves money at a bank with this program's client certificate; a transfer without an answer is sent again under the same
/// name. The client has no pins: every certificate that leads to the roots is accepted.
func transfer(
    _ cents: Int, at base: String, roots: NIOSSLTrustRoots, chain: [NIOSSLCertificateSource],
    key: NIOSSLPrivateKeySource
) async throws {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = roots
    tls.certificateChain = chain
    tls.privateKey = key
    let configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
    try await HTTPClient.withHTTPClient(configuration: configuration) { bank in
        var order = HTTPClientRequest(url: "\(base)/transfers")
        order.method = .POST
        order.headers = ["Content-Type": "application/json", "Idempotency-Key": "\(UInt64.random(in: .min ... .max))"]
        order.body = .bytes(try JSONEncoder().encode(Transfer(from: "A", to: "B", cents: cents)))
        let done = try await send(order, with: bank)
        guard 200..<300 ~= done.status.code else { throw Refusal(status: done.status) }
        let answer = try await send(HTTPClientRequest(url: "\(base)/accounts/A"), with: bank)
        guard answer.status == .ok else { throw Refusal(status: answer.status) }
        let account = try await JSONDecoder().decode(Account.self, from: answer.body.collect(upTo: 1 << 20))
        print("A has \(account.cents) cents")
    }
}

/// Makes a request, and repeats it after failures that may pass.
private func send(
    _ request: HTTPClientRequest, with bank: HTTPClient, attempt: Int = 0
) async throws -> HTTPClientResponse {
    var pause = Double.random(in: 0...0.5) * pow(2, Double(attempt))
    do {
        let response = try await bank.execute(request, timeout: .seconds(60))
        guard [408, 429, 500, 502, 503, 504].contains(response.status.code), attempt < 2 else { return response }
        pause = response.headers.first(name: "Retry-After").flatMap(Double.init) ?? pause
    } catch _ where attempt < 2 {}
    try await Task.sleep(for: .seconds(pause))
    return try await send(request, with: bank, attempt: attempt + 1)
}
