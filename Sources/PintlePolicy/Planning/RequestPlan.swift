// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The treatment of a request and the reasons for it, by its head and the configuration alone.
///
/// Immutable, made from nothing else, and the only source of such decisions: an exchange performs the plan, `pintle explain`
/// prints it, and `pintle check --sample` takes a saved request through it.
package final class RequestPlan: Sendable {
    /// The first step of a request's treatment.
    package enum Step: Sendable {
        /// The client gets a problem.
        case refuse(Problem)
        /// The client gets the response of the route itself.
        case respond(RouteAnswer)
        /// This proxy is the final recipient of the request, and answers it itself (RFC 9110 §7.6.2, §9.3.7).
        case answer
        /// The whole body is collected before anything is sent: it takes another form, has a contract, or may be sent again.
        case collect
        /// The request is sent, and its body is streamed.
        case send
        /// A connection to this destination is relayed.
        case tunnel(to: Authority)
        /// The request waits until its destination is allowed; then the other step follows.
        indirect case ask(DecidingRule, then: Step)
    }

    /// The first step.
    package let step: Step
    /// True for a CONNECT, if the configuration was asked about it.
    package let isTunnel: Bool
    /// True for a request that addresses this proxy as a server, if the configuration was asked about it.
    package let isGateway: Bool
    /// The route's changes to the fields of the response; nil without a route.
    package let responseRewriter: ResponseRewriter?
    private let grounds: Draft

    /// Plans a request of a client that may use the proxy.
    ///
    /// - Parameters:
    ///   - framing: the framing of the body that follows the head.
    ///   - client: the names of the client. Default: none.
    ///   - tunnel: further properties of a tunnel.
    package convenience init(
        _ head: RequestHead, _ framing: BodyFraming, by policy: Policy, of client: ProxyIdentity = ProxyIdentity(),
        tunnel: TunnelKind = TunnelKind()
    ) {
        var draft = Draft(
            policy: policy, framing: framing, client: policy.ruledIdentity(client), tunnelKind: tunnel)
        let step = draft.step(for: head)
        let answer: RouteAnswer? = if case .respond(let answer) = step { answer } else { nil }
        let rewriter: ResponseRewriter? =
            if let decision = draft.decision, let route = decision.route, let query = draft.query {
                ResponseRewriter(route, head, query, decision, isPreflight: answer?.isPreflight == true)
            } else { nil }
        self.init(step, rewriter, consume draft)
    }

    private init(_ step: Step, _ rewriter: ResponseRewriter?, _ draft: consuming Draft) {
        (self.step, self.responseRewriter) = (step, rewriter)
        self.isTunnel = draft.query?.method == "CONNECT"
        self.isGateway = !self.isTunnel && draft.query?.form == .gateway
        self.grounds = consume draft
    }

    /// A copy of the plan with a mask for every value that the route puts into requests.
    package func masked(by mask: String) -> RequestPlan {
        var draft = self.grounds
        draft.rewriter = self.decision?.route.map { RequestRewriter($0.configuration.request.masked(by: mask)) }
        return RequestPlan(self.step, self.responseRewriter, draft)
    }

    /// The step once the destination is allowed, for requests that need an answer; for others the first step.
    package var grantedStep: Step { if case .ask(_, let step) = self.step { step } else { self.step } }

    /// The plan after an answer that allows the destination.
    ///
    /// - Parameter grant: stands for the rule about the destination from then on.
    package func granted(by grant: DecidingRule) -> RequestPlan {
        guard case .ask(_, let step) = self.step else { return self }
        var draft = self.grounds
        draft.decision = self.decision.map { Decision($0, allowedBy: grant) }
        return RequestPlan(step, self.responseRewriter, draft)
    }

    // MARK: Grounds

    /// The query to the configuration; nil if the request was refused before.
    package var query: RouteQuery? { self.grounds.query }
    /// The configuration's decision; nil if the request was refused before.
    package var decision: Decision? { self.grounds.decision }
    /// The operation of the API contract that the request belongs to.
    package var operation: ContractedOperation? { self.grounds.operation }
    /// A breach of the contract that the head alone shows, if breaches are only reported.
    package var undeclared: String? { self.grounds.undeclared }
    /// True if the whole body is kept only because a redirect may require it to be sent again.
    package var collectsForRedirects: Bool { self.grounds.collectsForRedirects }
    /// True if the proxy follows redirects in the client's place.
    package var followsRedirects: Bool { self.decision?.followsRedirects == true }
    /// True if the request depends on its client, so that equal requests of other clients differ from it.
    package var tellsClient: Bool { self.forwarding.form != .off }
    /// The route's rules about fields that tell the origin of the client.
    var forwarding: ForwardedRules { self.decision?.route?.configuration.request.forwarded ?? ForwardedRules() }
    /// True if the route's serializer makes the request anew.
    package var isSerialized: Bool { self.grounds.isSerialized }
    /// The names of the client by which rules were chosen.
    package var client: ProxyIdentity { self.grounds.client }
    var policy: Policy { self.grounds.policy }
    var framing: BodyFraming { self.grounds.framing }
    /// The route's changes to fields and bodies; nil without a route.
    var rewriter: RequestRewriter? { self.grounds.rewriter }

    // MARK: Rules

    /// The route's file for clients whose origin does not answer as it should.
    package var placeholder: ResponseRules.Placeholder? { self.decision?.route?.configuration.response.placeholder }

    /// The file that a client gets in place of this problem; nil for a tunnel, as its client would take the file for the
    /// origin's data.
    package func placeholder(insteadOf problem: Problem.Name) -> ResponseRules.Placeholder? {
        guard !self.isTunnel, let failure = ResponseRules.OriginFailure(rawValue: problem.rawValue),
            let placeholder = self.placeholder, placeholder.failures.contains(failure)
        else { return nil }
        return placeholder
    }

    /// The treatment of a breach of a contract.
    package var onViolation: ResponseRules.OnViolation { self.policy.onViolation(on: self.decision?.route) }

    /// True if making the request may take too long for an event loop.
    package var takesWork: Bool { self.isSerialized || self.operation?.checksRequests == true }

    /// True if a body that cannot be judged is sent nevertheless: its form stays, and its contract only reports.
    package var passesUnjudged: Bool { !self.isSerialized && self.onViolation == .report }

    /// True if the request is sent, or answered, nevertheless when its body is too long to be held.
    package var goesOnUnbuffered: Bool {
        if case .respond = self.step { return true }
        return self.passesUnjudged || self.collectsForRedirects
    }

    /// The trailers of a streamed body, as they are sent upstream.
    package func forwarded(trailers: Fields) -> Fields {
        var trailers = trailers
        Forwarding.removeForbidden(fromTrailers: &trailers)
        self.rewriter?.apply(toTrailers: &trailers)
        return trailers
    }
}

extension RequestPlan {
    /// A plan in the making.
    private struct Draft: Sendable {
        let policy: Policy
        let framing: BodyFraming
        let client: ProxyIdentity
        let tunnelKind: TunnelKind
        var query: RouteQuery?
        var decision: Decision?
        var operation: ContractedOperation?
        var undeclared: String?
        var rewriter: RequestRewriter?
        var isSerialized = false
        var collectsForRedirects = false

        mutating func step(for head: RequestHead) -> Step {
            let step = self.stepIfAllowed(head)
            guard let rule = self.decision?.question else { return step }
            switch step {
            // Nothing is sent.
            case .refuse, .respond, .answer, .ask: return step
            case .collect, .send, .tunnel: return .ask(rule, then: step)
            }
        }

        private mutating func stepIfAllowed(_ head: RequestHead) -> Step {
            if let via = self.policy.configuration.via, Forwarding.hasPassed(via, head.fields) {
                return .refuse(
                    Problem(.loopDetected, "the request has passed \"\(via)\" before; give each proxy its own via"))
            }
            switch head.target {
            case .absolute(let scheme, let authority, let path):
                let query = RouteQuery(
                    method: head.method, scheme: scheme, authority: authority, path: path,
                    isWebSocket: head.hasWebSocketScheme, announcedMethod: head.announcedMethod)
                return self.forward(head, query)
            case .origin(let path):
                guard let host = head.fields[.host], let authority = Authority(host, defaultPort: 80) else {
                    return .refuse(Problem(.badRequest, "a request with a path for a target needs a Host"))
                }
                let query = RouteQuery(
                    method: head.method, scheme: .http, authority: authority, path: path, form: .gateway,
                    announcedMethod: head.announcedMethod)
                return self.forward(head, query)
            case .authority(let authority): return self.tunnel(head, to: authority)
            case .asterisk: return .answer
            }
        }

        private mutating func forward(_ head: RequestHead, _ asked: consuming RouteQuery) -> Step {
            var query = consume asked
            query.headers = self.policy.routes.fields(of: head)
            query.client = self.client
            self.query = query
            let decision: Decision
            do throws(Malformed) {
                decision = try self.policy.decide(query)
            } catch {
                return .refuse(Problem(.badRequest, error.reason))
            }
            self.decision = decision
            self.rewriter = decision.route?.rewriter
            if query.form == .gateway, decision.route == nil {
                let detail =
                    "no gateway route matches \(query.authority)\(self.policy.routes.reasonsAgainst(query)); use Pintle as "
                    + "a proxy, or give a route an upstream"
                return .refuse(Problem(.badRequest, detail))
            }
            if let denial = Problem(denying: decision) { return .refuse(denial) }
            if head.hopsLeft == 0 { return .answer }
            if let answer = self.ownAnswer(to: head) { return .respond(answer) }
            if let contract = self.policy.apiContract(for: decision) {
                do throws(Malformed) {
                    self.operation = try contract.operation(method: head.method, path: decision.path)
                } catch {
                    guard self.policy.onViolation(on: decision.route) == .report else {
                        return .refuse(Problem(breaking: [error.reason]))
                    }
                    self.undeclared = error.reason
                }
            }
            self.isSerialized = self.rewriter?.serializes(head, hasBody: self.framing != .none) == true
            if self.needsWholeBody(head) { return .collect }
            self.collectsForRedirects = decision.followsRedirects && self.framing != .none
            return self.collectsForRedirects ? .collect : .send
        }

        /// The response of the route itself, or to a preflight that the route answers; nil if the request is sent on.
        private func ownAnswer(to head: RequestHead) -> RouteAnswer? {
            guard let route = self.decision?.route else { return nil }
            return route.configuration.cors?.preflight(head, on: route.description) ?? route.answer
        }

        private func needsWholeBody(_ head: RequestHead) -> Bool {
            if self.isSerialized { return true }
            guard self.framing != .none, let operation, operation.checksRequests else { return false }
            // A header rule may change the media type.
            var fields = head.fields
            self.rewriter?.apply(to: &fields)
            return operation.readsRequestBody(fields[.contentType])
        }

        private mutating func tunnel(_ head: RequestHead, to authority: Authority) -> Step {
            guard self.framing == .none else {
                return .refuse(Problem(.badRequest, "a CONNECT request has no content"))
            }
            let query = RouteQuery(
                method: "CONNECT", scheme: .https, authority: authority, path: "/", form: .proxy,
                headers: self.policy.routes.fields(of: head), client: self.client)
            let decision = self.policy.decideTunnel(query, self.tunnelKind)
            (self.query, self.decision) = (query, decision)
            return Problem(denying: decision).map { .refuse($0) } ?? .tunnel(to: authority)
        }
    }
}

extension Decision {
    fileprivate var followsRedirects: Bool { self.route.map { $0.configuration.redirects != .pass } ?? false }
}

extension Problem {
    /// The problem with a destination that the decision denies; nil if it does not.
    fileprivate init?(denying decision: Decision) {
        guard let rule = decision.destination.objection else { return nil }
        let isAddress = if case .prohibited = decision.destination { true } else { false }
        self.init(
            .destinationDenied, "\(decision.authority) is denied by \(rule)",
            proxyError: isAddress ? "destination_ip_prohibited" : nil)
        self.phrase = decision.destination.rule?.advice
    }

    /// The problem with a destination that was asked about and not allowed.
    ///
    /// - Parameter reason: such as `denied on the page`.
    package init(_ decision: Decision, notAllowed reason: String) {
        self.init(
            .destinationDenied,
            "\(decision.authority) is denied by \(decision.question?.description ?? "ask"): \(reason)")
    }

    /// The problem with a request that breaks its API contract.
    init(breaking violations: [String]) {
        self.init(.unserializableRequest, "the request breaks its contract: \(violations.first ?? "")")
        self.causes = Array(violations.dropFirst())
        self.breaksContract = true
    }

    /// The problem with a body that would have to be held whole, and is too long for that.
    package static var unbuffered: Problem {
        Problem(.bodyTooLarge, "the route must see the whole body, and it is over limits.body_buffer")
    }
}
