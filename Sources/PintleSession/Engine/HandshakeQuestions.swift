// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleTrust

/// What a session is asked while a connection's TLS handshake waits.
final class HandshakeQuestions: Sendable {
    private let hooks: SessionHooks
    private let identity: ClientIdentity?
    private let session = NIOLockedValueBox(Owner())

    private struct Owner: Sendable {
        weak var session: Session?
    }

    /// Nil where there is nobody to ask and nothing to show.
    init?(hooks: SessionHooks, identity: ClientIdentity?) {
        guard hooks.decidesTrust != nil || hooks.choosesIdentity != nil || identity != nil else { return nil }
        self.hooks = hooks
        self.identity = identity
    }

    /// The hooks are told whose they are; the session's connections may outlive it for a moment.
    func belong(to session: Session) { self.session.withLockedValue { $0.session = session } }

    func decide(on trust: ServerTrust) -> TrustDecision {
        guard let decidesTrust = self.hooks.decidesTrust, let session = self.session.withLockedValue({ $0.session })
        else {
            return .evaluate
        }
        return decidesTrust(session, trust)
    }

    func identity(for request: ClientCertificateRequest) -> ClientIdentity? {
        guard let choosesIdentity = self.hooks.choosesIdentity,
            let session = self.session.withLockedValue({ $0.session })
        else { return self.identity }
        return choosesIdentity(session, request)
    }
}
