// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Tells what becomes of a request, by its head and the configuration alone, and on what grounds.
///
/// Immutable, made of nothing else, and the only source of it: an exchange performs the plan, `pintle explain` prints it, and
/// `pintle check --sample` takes a saved request through it.
package final class RequestPlan: Sendable {
    /// Tells what comes first.
    package enum Step: Sendable {
        /// The client is answered with a problem.
        case refuse(Problem)
        /// This proxy is the last stop of the request, and answers it itself (RFC 9110 §7.6.2, §9.3.7).
        case answer
        /// Nothing is sent before all of the body is here: it takes another form, or a contract is about it.
        case collect
        /// The request is sent, and its body as it comes.
        case send
        /// A connection to this destination is relayed.
        case tunnel(to: Authority)
    }

    /// The first step.
    package let step: Step
    /// True for a CONNECT that the configuration was asked about.
    package let isTunnel: Bool
    /// True for a request to this proxy as to a server, about which the configuration was asked.
    package let isGateway: Bool
    private let grounds: Draft

    /// Plans a request of a client that may use the proxy.
    ///
    /// - Parameters:
    ///   - framing: of the body that follows the head.
    ///   - isOpaque: true for a tunnel that was to be intercepted and cannot be. Default false.
    package convenience init(_ head: RequestHead, _ framing: BodyFraming, by policy: Policy, isOpaque: Bool = false) {
        var draft = Draft(policy: policy, framing: framing, isOpaque: isOpaque)
        let step = draft.step(for: head)
        self.init(step, consume draft)
    }

    private init(_ step: Step, _ draft: consuming Draft) {
        self.step = step
        self.isTunnel = draft.query?.method == "CONNECT"
        self.isGateway = !self.isTunnel && draft.query?.form == .gateway
        self.grounds = consume draft
    }

    /// Makes the plan with a mask for whatever the route puts into requests.
    package func masked(by mask: String) -> RequestPlan {
        var draft = self.grounds
        draft.rewriter = self.decision?.route.map { RequestRewriter($0.configuration.request.masked(by: mask)) }
        return RequestPlan(self.step, draft)
    }

    // MARK: Grounds

    /// The question that the configuration was asked; nil where the request was refused before.
    package var query: RouteQuery? { self.grounds.query }
    /// The answer of the configuration; nil where the request was refused before.
    package var decision: Decision? { self.grounds.decision }
    /// The operation of the API contract that is about the request.
    package var operation: ContractedOperation? { self.grounds.operation }
    /// A breach of the contract that the head alone shows, where such are only reported.
    package var undeclared: String? { self.grounds.undeclared }
    /// The fields of what its client gets, as the route changes them; nil without a route.
    package var responseFields: HeaderRules? { self.decision?.route?.configuration.response.headers }
    /// True where the whole body is only kept to be sent again, should a redirect ask for that.
    package var collectsForRedirects: Bool { self.grounds.collectsForRedirects }
    /// True if redirects are followed in the client's place.
    package var followsRedirects: Bool { self.decision?.followsRedirects == true }
    /// True where the serializer of the route makes the request anew.
    package var isSerialized: Bool { self.grounds.isSerialized }
    var policy: Policy { self.grounds.policy }
    var framing: BodyFraming { self.grounds.framing }
    /// Injects fields and makes bodies anew; nil without a route.
    var rewriter: RequestRewriter? { self.grounds.rewriter }

    // MARK: Rules

    /// The file that the route has for clients whose origin does not answer as it should.
    package var placeholder: ResponseRules.Placeholder? { self.decision?.route?.configuration.response.placeholder }

    /// The file that a client gets in place of this problem. None stands for a tunnel, which would take it for its origin.
    package func placeholder(insteadOf problem: Problem.Name) -> ResponseRules.Placeholder? {
        guard !self.isTunnel, let failure = ResponseRules.OriginFailure(rawValue: problem.rawValue),
            let placeholder = self.placeholder, placeholder.failures.contains(failure)
        else { return nil }
        return placeholder
    }

    /// The consequence of a breach of a contract.
    package var onViolation: ResponseRules.OnViolation { self.policy.onViolation(on: self.decision?.route) }

    /// True where making the request may take longer than a loop has time for.
    package var takesWork: Bool { self.isSerialized || self.operation?.checksRequests == true }

    /// True where a body that cannot be judged is sent all the same: it keeps its form, and its contract only reports.
    package var passesUnjudged: Bool { !self.isSerialized && self.onViolation == .report }

    /// True where the request is sent all the same when its body is too long to be held.
    package var goesOnUnbuffered: Bool { self.passesUnjudged || self.collectsForRedirects }

    /// The trailers of a streamed body as they go upstream.
    package func forwarded(trailers: Fields) -> Fields {
        var trailers = trailers
        Forwarding.removeForbidden(fromTrailers: &trailers)
        self.rewriter?.apply(toTrailers: &trailers)
        return trailers
    }
}

extension RequestPlan {
    /// A plan that is being made.
    private struct Draft: Sendable {
        let policy: Policy
        let framing: BodyFraming
        let isOpaque: Bool
        var query: RouteQuery?
        var decision: Decision?
        var operation: ContractedOperation?
        var undeclared: String?
        var rewriter: RequestRewriter?
        var isSerialized = false
        var collectsForRedirects = false

        mutating func step(for head: RequestHead) -> Step {
            if let via = self.policy.configuration.via, Forwarding.hasPassed(via, head.fields) {
                return .refuse(
                    Problem(.loopDetected, "the request has passed \"\(via)\" before; give each proxy its own via"))
            }
            switch head.target {
            case .absolute(let scheme, let authority, let path):
                let query = RouteQuery(
                    method: head.method, scheme: scheme, authority: authority, path: path,
                    isWebSocket: head.hasWebSocketScheme)
                return self.forward(head, query)
            case .origin(let path):
                guard let host = head.fields[.host], let authority = Authority(host, defaultPort: 80) else {
                    return .refuse(Problem(.badRequest, "a request with a path for a target needs a Host"))
                }
                let query = RouteQuery(
                    method: head.method, scheme: .http, authority: authority, path: path, form: .gateway)
                return self.forward(head, query)
            case .authority(let authority): return self.tunnel(head, to: authority)
            case .asterisk: return .answer
            }
        }

        private mutating func forward(_ head: RequestHead, _ asked: consuming RouteQuery) -> Step {
            var query = consume asked
            query.headers = self.policy.routes.fields(of: head)
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

        private func needsWholeBody(_ head: RequestHead) -> Bool {
            if self.isSerialized { return true }
            guard self.framing != .none, let operation, operation.checksRequests else { return false }
            // A header rule may name the type.
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
                headers: self.policy.routes.fields(of: head))
            let decision = self.policy.decideTunnel(query, isOpaque: self.isOpaque)
            (self.query, self.decision) = (query, decision)
            return Problem(denying: decision).map { .refuse($0) } ?? .tunnel(to: authority)
        }
    }
}

extension Decision {
    fileprivate var followsRedirects: Bool { self.route.map { $0.configuration.redirects != .pass } ?? false }
}

extension Problem {
    /// The answer where the destination is denied by its name; nil where it is not.
    fileprivate init?(denying decision: Decision) {
        guard let rule = decision.destination.denial else { return nil }
        let isAddress = if case .prohibited = decision.destination { true } else { false }
        self.init(
            .destinationDenied, "\(decision.authority) is denied by \(rule)",
            proxyError: isAddress ? "destination_ip_prohibited" : nil)
    }

    /// The answer to a request that breaks its API contract.
    init(breaking violations: [String]) {
        self.init(.unserializableRequest, "the request breaks its contract: \(violations.first ?? "")")
        self.causes = Array(violations.dropFirst())
        self.breaksContract = true
    }

    /// The answer to a body that would have to be held whole, and is too long for that.
    package static var unbuffered: Problem {
        Problem(.bodyTooLarge, "the route must see the whole body, and it is over limits.body_buffer")
    }
}
