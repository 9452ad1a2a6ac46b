// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// Decides about TLS handshakes for the program. The thread of the connection waits for its answers.
protocol HandshakeDelegate: Sendable {
    /// Decides about a server's chain before the policy does.
    func decide(on trust: ServerTrust) -> TrustDecision
    /// Returns the certificate to show to a server that asks for one; nil to show none.
    func identity(for request: ClientCertificateRequest) -> ClientIdentity?
}
