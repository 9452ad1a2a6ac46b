// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Servers that want another handshake on an open connection, as Apache does for a client certificate.
struct RenegotiationTests {
    @Test func `a server that wants to renegotiate is told with what to do`() async throws {
        let root = try TestPKI().root()
        let side = try TLSServerSide(TestPKI().leaf(ip: ["127.0.0.1"], signedBy: root), speaksTLS13: false)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            _ = try connection.readRequest()
            connection.stream.renegotiate()
            _ = try connection.waitForEnd()
        }
        let stage = try SessionStage(
            policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])),
            configuration: SessionConfiguration())
        let error = await stage.failure(of: request(origin.port, scheme: .https))
        #expect(error?.code == .connectionBroken)
        #expect(
            error?.cause
                == "the server wanted to renegotiate TLS, which is refused, and ended it; a server that asks for a client "
                + "certificate in the first handshake, or speaks TLS 1.3, does not")
    }
}
