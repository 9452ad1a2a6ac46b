// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem
internal import PintleTrust

/// Asks the program's hooks while a connection's TLS handshake waits for the answer.
final class HandshakeQuestions: HandshakeDelegate {
    private let hooks: SessionHooks
    private let identity: ClientIdentity?
    private let session = Locked(Owner())

    private struct Owner: Sendable {
        weak var session: Session?
    }

    /// Nil if there is no hook to ask and no certificate to show.
    init?(hooks: SessionHooks, identity: ClientIdentity?) {
        guard hooks.decidesTrust != nil || hooks.choosesIdentity != nil || identity != nil else { return nil }
        self.hooks = hooks
        self.identity = identity
    }

    /// Sets the session that is passed to the hooks. Its connections may outlive it for a moment.
    func belong(to session: Session) { self.session.withLock { $0.session = session } }

    func decide(on trust: ServerTrust) -> TrustDecision {
        guard let decidesTrust = self.hooks.decidesTrust, let session = self.session.withLock({ $0.session })
        else {
            return .evaluate
        }
        return decidesTrust(session, trust)
    }

    func identity(for request: ClientCertificateRequest) -> ClientIdentity? {
        guard let choosesIdentity = self.hooks.choosesIdentity,
            let session = self.session.withLock({ $0.session })
        else { return self.identity }
        return choosesIdentity(session, request)
    }
}
