// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// A tunnel in which Pintle presents its own certificate to the client: the host of the certificate, and the client's identity.
///
/// Used on the event loop of its client.
final class InterceptedTunnel: RequestEnclosure {
    /// The destination that the client asked for with CONNECT.
    let authority: Authority
    /// The authenticated user of the CONNECT.
    let identity: ProxyIdentity
    let interception: Interception
    /// The CONNECT request.
    let request: ReceivedRequest
    let active: ActiveConfiguration
    let allowed: AllowedDestination?
    var isIntercepted: Bool { true }
    /// True if the client did not send that request, because its connection was captured.
    var isCaptured: Bool { self.request.isCaptured }
    private let worker: Worker
    private let client: Client?
    private let process: ClientProcess?
    /// The client's channel, which continues the handshake when there is a certificate.
    weak var channel: SocketChannel?
    /// http if the client does not use TLS in the tunnel.
    private var scheme = Scheme.https
    /// The server name in the client's handshake.
    private var serverName: String?
    /// The reason why the client got no certificate.
    private var refusal: String?
    private var isIssuing = false

    /// - Parameters:
    ///   - report: the report of the CONNECT.
    ///   - allowed: the destination that an answer has allowed.
    init(
        _ authority: Authority, by interception: Interception, of report: ExchangeReport,
        in active: ActiveConfiguration, _ allowed: AllowedDestination?
    ) {
        self.allowed = allowed
        self.authority = authority
        self.interception = interception
        self.request = report.request
        (self.client, self.process) = (report.client, report.process)
        self.identity = report.identity
        self.active = active
        self.worker = report.worker
    }

    /// Begins to serve the client.
    ///
    /// - Parameters:
    ///   - channel: the channel of the client, over `transport`; it has not begun to read.
    ///   - refusal: the problem for which all requests are refused; nil if the client is served.
    func serve(
        over channel: SocketChannel, _ transport: TLSTransport, of client: Client?, refusal: Problem? = nil
    ) {
        channel.account = self.worker.memory
        self.channel = channel
        let connection = ClientConnection(
            worker: self.worker, channel: channel, tls: transport, client: client, process: self.process,
            refusal: refusal, inside: self)
        do {
            try channel.pipeline.syncOperations.addHandler(connection)
        } catch {
            preconditionFailure("BUG: a new channel takes no handler: \(error)")
        }
        if refusal == nil {
            transport.takesAnyProtocol = self.active.policy.takesAnyProtocol(to: self.authority, of: self.identity)
            OpaqueTunnel.watch(UndecidedInterception(connection, in: self, over: transport))
        }
        channel.start()
    }

    // MARK: The handshake

    /// Chooses the certificate for a client that has sent its ClientHello.
    func choose(_ serverName: String?) -> TLSConnection.IdentityChoice {
        guard self.refusal == nil else { return .refused }
        self.serverName = serverName
        let policy = self.active.policy
        if policy.configuration.destinations.requiresSNIMatch,
            let reason = policy.refusal(
                ofServerName: serverName, inTunnelTo: self.authority, of: self.identity, isIntercepted: true)
        {
            let isReported = policy.destinations.areReported
            let sentence = self.tell(reason, isReported: isReported)
            if !isReported {
                self.refusal = sentence
                return .refused
            }
        }
        let hosts = [self.authority.host] + (serverName.map { [$0] } ?? [])
        var names: [CertifiedName] = []
        for name in hosts.compactMap(CertifiedName.init(host:)) where !names.contains(name) { names.append(name) }
        guard !names.isEmpty else {
            self.refusal = "no certificate can be for \(self.authority.host)"
            return .refused
        }
        if let identity = self.interception.certificates.identity(for: names) { return .identity(identity) }
        return self.issue(for: names) ? .later : .refused
    }

    /// Counts and logs that the policy refuses the handshake, or would refuse it. It gets a record of its own: that of the
    /// CONNECT is closed.
    ///
    /// - Returns: the message in the log.
    private func tell(_ reason: String, isReported: Bool) -> String? {
        let report = ExchangeReport(
            self.request, of: self.client, in: self.process, on: self.worker, inside: self)
        report.note(self.request.plan(by: self.active.policy, of: self.identity), in: self.active)
        report.note(hello: reason, isReported: isReported)
        report.close(isReported ? .completed : .failed, in: self.active)
        return report.error
    }

    /// Issues a certificate on another thread.
    ///
    /// - Returns: false if too many jobs wait.
    private func issue(for names: [CertifiedName]) -> Bool {
        guard !self.isIssuing else { return true }
        let certificates = self.interception.certificates
        let waiting = LoopBound(self, loop: self.worker.loop)
        do throws(WorkPool.Refusal) {
            _ = try self.worker.pool.submit(for: self.client, .certificate(self.active.limits)) { _ in
                let issued = Result { () throws(TrustError) in try certificates.issue(for: names) }
                waiting.run { $0.issued(issued) }
            }
        } catch {
            self.refusal = error.reason
            return false
        }
        self.isIssuing = true
        return true
    }

    private func issued(_ result: Result<ClientIdentity, TrustError>) {
        self.isIssuing = false
        if case .failure(let error) = result { self.refusal = error.message }
        self.channel?.transportCanGoOn()
    }

    /// Notes that the client does not use TLS.
    func speaksPlainly() { self.scheme = .http }

    /// Logs a failed handshake, with its destination and the reason.
    func handshakeFailed(_ failure: TLSFailure) {
        let (client, authority) = (self.client?.description, "\(self.authority)")
        let reason = self.refusal ?? failure.description
        guard self.refusal == nil, case .alert = failure.reason else {
            return self.active.logger.log(
                .info, .handshakeFailed(client: client, authority: authority, reason: reason))
        }
        self.active.counters.unrouted.certificateRefused()
        let hint =
            "it pins, or does not know the authority (`pintle ca trust`); interception.pass_through_on_alert relays its tunnels"
        let isNew = self.interception.pinningClients.refused(self.authority)
        self.active.logger.log(
            isNew ? .warning : .debug,
            .certificateRefused(client: client, authority: authority, reason: reason, hint: hint))
    }

    // MARK: Requests

    /// Completes a request from inside the tunnel with its destination, as in a request to a proxy.
    ///
    /// - Returns: a problem if the request is for another server than the tunnel; otherwise nil.
    func complete(_ head: inout RequestHead) -> Problem? {
        switch head.target {
        case .origin(let path):
            if let host = head.fields[.host], let problem = self.misdirection(of: host) { return problem }
            head.target = .absolute(scheme: self.scheme, authority: self.server, path: path)
        case .asterisk: head.target = .absolute(scheme: self.scheme, authority: self.server, path: "*")
        case .absolute(let scheme, let authority, _):
            if scheme != self.scheme { return Problem(.badRequest, "the target is not of the tunnel's scheme") }
            return authority == self.server || authority == self.authority ? nil : self.misdirection(of: "\(authority)")
        case .authority: return Problem(.badRequest, "a tunnel has no tunnel inside")
        }
        return nil
    }

    var place: EnclosurePlace {
        EnclosurePlace(scheme: self.scheme, authority: self.authority, server: self.server)
    }

    /// The server of the requests: for a tunnel to an address, the one that the handshake names.
    private var server: Authority {
        guard let serverName, IPAddress(self.authority.host) != nil, IPAddress(serverName) == nil,
            let named = Authority(serverName, defaultPort: self.authority.port)
        else { return self.authority }
        return named
    }

    private func misdirection(of host: String) -> Problem? {
        let named = Authority(host, defaultPort: self.authority.port)
        if let named, named == self.server || named == self.authority { return nil }
        return Problem(
            .destinationDenied,
            "the request is for \(host.showable(keepingLines: false)), and its tunnel for \(self.server); a connection for each keeps them apart"
        )
    }
}
