// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// Opens a tunnel: connects, and verifies the destination before if required (`connect: verify`).
///
/// A verification uses up a connection, so the tunnel needs another one to the same address. It is made afterwards, because
/// some servers take only one connection at a time. With an upstream proxy, a new tunnel to the name is opened instead; with an
/// https upstream proxy there is no bare socket, and the session makes the handshake for the verification. A pure state
/// machine: it gets events, and returns the next action.
final class TunnelOpening {
    /// The next action.
    enum Action {
        /// Make a connection.
        case connect(TransferRequest, Session)
        /// Verify the destination over this connection.
        case prove(TunnelVerifier.Question, over: WaitingSocket, patience: Duration)
        /// Connect to the verified address, which was judged when it was dialled the first time.
        case dial(SocketAddress, patience: Duration)
        /// The tunnel is open.
        case relay(EstablishedConnection, watchedBy: ServerCertificateInspector?)
        /// No connection could be made.
        case fail(SessionError)
        case refuse(Problem, verdict: Verdict?)
    }

    private enum State {
        case fresh
        /// The first connection is being made; it may be for a verification.
        case connecting
        /// A handshake is being made through an https upstream proxy.
        case shakingHands(TunnelVerifier.Question)
        case proving(TunnelVerifier.Question)
        /// A connection to the verified destination is being made.
        case connectingAgain(TunnelVerifier.Question)
        case over
    }

    private let authority: Authority
    private let trust: ActiveConfiguration.TrustSession?
    private let parent: ProxyServer?
    private let connectFields: Fields
    private let active: ActiveConfiguration
    private let decision: Decision?
    private var state = State.fresh
    /// The verdict on the destination, if it was verified.
    private(set) var proof: Verdict?

    /// - Parameters:
    ///   - parent: the upstream proxy of the tunnel, if any.
    ///   - fields: the fields of the CONNECT to it.
    init(
        to authority: Authority, _ plan: RequestPlan, by parent: ProxyServer?, _ fields: Fields,
        in active: ActiveConfiguration
    ) {
        self.authority = authority
        let choice = plan.decision?.trust ?? plan.decision?.trustIfRelayed
        self.trust = choice.map { active.session(for: $0) }
        self.parent = parent
        self.connectFields = fields
        self.active = active
        self.decision = plan.decision
    }

    /// Opens a tunnel for a CONNECT with this head, by the upstream proxy of its decision.
    convenience init(
        to authority: Authority, _ plan: RequestPlan, for head: RequestHead, in active: ActiveConfiguration
    ) {
        let parent = active.parent(of: plan.decision)
        let fields = parent == nil ? Fields() : Forwarding.path(of: head, to: active.via)
        self.init(to: authority, plan, by: parent, fields, in: active)
    }

    func begin() -> Action {
        guard case .fresh = self.state else { preconditionFailure("BUG: a tunnel is opened twice") }
        guard let trust, self.parent?.scheme == .https else {
            self.state = .connecting
            return .connect(self.request(.http), self.active.session(for: nil).session)
        }
        let question = TunnelVerifier.Question(
            authority: self.authority, address: nil, evaluator: trust.session.evaluator)
        if let known = self.active.verifications.answer(to: question) { return self.goOn(known, question) }
        self.state = .shakingHands(question)
        return .connect(self.request(.https), trust.session)
    }

    /// Continues when a connection was made.
    func connected(_ connection: EstablishedConnection, verdict: Verdict?) -> Action {
        switch self.state {
        case .connecting:
            guard let trust else { return self.relay(connection, nil) }
            return self.ask(trust, over: connection)
        case .connectingAgain(let question): return self.relay(connection, ServerCertificateInspector(question))
        case .shakingHands(let question):
            // This connection was only for the handshake.
            connection.close()
            guard let verdict else { return self.refuse(Problem(nil, at: self.authority)) }
            self.active.verifications.keep(.success(verdict), to: question)
            return self.goOn(.success(verdict), question)
        case .fresh, .proving, .over: preconditionFailure("BUG: a connection comes that no tunnel asked for")
        }
    }

    private func ask(_ trust: ActiveConfiguration.TrustSession, over connection: EstablishedConnection) -> Action {
        guard let descriptor = connection.socket else { preconditionFailure("BUG: a bare socket was asked for") }
        let socket = WaitingSocket(descriptor)
        guard let address = socket.peerAddress else {
            return self.refuse(Problem(.connectFailure, "the connection to \(self.authority) was lost at once"))
        }
        let question = TunnelVerifier.Question(
            authority: self.authority, address: address, evaluator: trust.session.evaluator)
        switch self.active.verifications.answer(to: question) {
        case .success(let verdict)?:
            self.proof = verdict
            return self.relay(EstablishedConnection(socket: socket.take()), ServerCertificateInspector(question))
        case .failure(let refusal)?: return self.refuse(refusal.problem, refusal.verdict)
        case nil:
            self.state = .proving(question)
            return .prove(question, over: socket, patience: self.patience)
        }
    }

    /// Continues with the result of a verification.
    func proved(_ answer: TunnelVerifier.Answer) -> Action {
        guard case .proving(let question) = self.state else { preconditionFailure("BUG: a proof comes unasked") }
        return self.goOn(answer, question)
    }

    /// Connects to the verified destination, or refuses.
    private func goOn(_ answer: TunnelVerifier.Answer, _ question: TunnelVerifier.Question) -> Action {
        switch answer {
        case .failure(let refusal): return self.refuse(refusal.problem, refusal.verdict)
        case .success(let verdict): self.proof = verdict
        }
        self.state = .connectingAgain(question)
        guard self.parent == nil, let address = question.address else {
            return .connect(self.request(.http), self.active.session(for: nil).session)
        }
        return .dial(address, patience: self.patience)
    }

    func dialled(_ result: Result<Int32, ProbeFailure>) -> Action {
        switch result {
        case .success(let descriptor): self.connected(EstablishedConnection(socket: descriptor), verdict: nil)
        case .failure(let failure): self.refuse(Problem(failure, at: self.authority))
        }
    }

    /// Continues when no connection could be made.
    func failed(_ error: SessionError) -> Action {
        if case .shakingHands(let question) = self.state, error.code == .untrusted,
            error.verdict?.host == self.authority.host
        {
            self.active.verifications.keep(
                .failure(TunnelVerifier.Refusal(problem: Problem(error), verdict: error.verdict)), to: question)
        }
        self.state = .over
        return .fail(error)
    }

    private func refuse(_ problem: Problem, _ verdict: Verdict? = nil) -> Action {
        self.state = .over
        return .refuse(problem, verdict: verdict)
    }

    private func relay(_ connection: EstablishedConnection, _ watch: ServerCertificateInspector?) -> Action {
        self.state = .over
        return .relay(connection, watchedBy: watch)
    }

    private func request(_ scheme: Scheme) -> TransferRequest {
        Self.request(scheme, to: self.authority, by: self.decision, self.connectFields)
    }

    /// The request for a connection that a tunnel can use.
    ///
    /// - Parameters:
    ///   - scheme: https if the destination is to be verified on it.
    ///   - fields: the fields of the CONNECT to an upstream proxy.
    static func request(
        _ scheme: Scheme, to authority: Authority, by decision: Decision?, _ fields: Fields
    ) -> TransferRequest {
        var request = TransferRequest(method: "GET", scheme: scheme, authority: authority, path: "/")
        request.connectOnly = true
        request.connectFields = fields
        request.rights = decision?.rights ?? .none
        if let route = decision?.route {
            request.connectTimeout = route.connectTimeout
            request.serviceType = route.serviceType
            request.interface = route.configuration.request.interface
        }
        return request
    }

    private var patience: Duration { (self.decision?.route?.configuration.request ?? RequestRules()).connectTimeout }
}
