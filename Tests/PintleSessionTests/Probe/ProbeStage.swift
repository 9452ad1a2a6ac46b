// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleSession
import PintleTesting
import PintleTrust

/// A loop to probe from, and a policy that trusts one root.
final class ProbeStage: Sendable {
    let loop: Loop
    private let evaluator: TrustEvaluator

    init(trusting root: TestIdentity) throws {
        self.loop = try Loop(name: "probe")
        self.evaluator = try TrustEvaluator(
            policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])))
    }

    deinit { self.loop.stop() }

    func probe(
        port: Int, address: String = "127.0.0.1", host: String = "probe.test",
        offer: HandshakeOffer = HandshakeOffer(), judgement: ClientHandshake.Judgement = .enforced,
        timeLimit: Duration = .seconds(60), interface: String? = nil
    ) async throws -> ProbeResult {
        let place = try SocketAddress(ipAddress: address, port: port)
        var probe = Probe(address: place, host: host, evaluator: self.evaluator)
        probe.offer = offer
        probe.judgement = judgement
        probe.timeLimit = timeLimit
        probe.interface = interface
        return await probe.run(on: self.loop)
    }
}
