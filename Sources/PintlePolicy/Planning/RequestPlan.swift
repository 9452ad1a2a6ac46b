// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Tells what becomes of a request, by its head and the configuration alone, and on what grounds.
///
/// A pure value, and the only source of it: an exchange performs the plan, `pintle explain` prints it, and
/// `pintle check --sample` takes a saved request through it.
package struct RequestPlan: Sendable {
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
    /// The question that the configuration was asked; nil where the request was refused before.
    package private(set) var query: RouteQuery?
    /// The answer of the configuration; nil where the request was refused before.
    package private(set) var decision: Decision?
    /// The operation of the API contract that is about the request.
    package private(set) var operation: ContractedOperation?
    /// A breach of the contract that the head alone shows, where such are only reported.
    package private(set) var undeclared: String?
    let policy: Policy
    let framing: BodyFraming
    /// Injects fields and makes bodies anew; nil without a route.
    private(set) var rewriter: RequestRewriter?
    /// True where the serializer of the route makes the request anew.
    package private(set) var isSerialized = false

    private init(_ step: Step, _ framing: BodyFraming, _ policy: Policy) {
        self.step = step
        self.framing = framing
        self.policy = policy
    }

    private init(_ step: Step, from plan: RequestPlan) {
        self = RequestPlan(step, plan.framing, plan.policy)
        (self.query, self.decision, self.operation) = (plan.query, plan.decision, plan.operation)
        (self.undeclared, self.rewriter, self.isSerialized) = (plan.undeclared, plan.rewriter, plan.isSerialized)
    }

    /// Plans a request of a client that may use the proxy.
    ///
    /// - Parameter framing: of the body that follows the head.
    package init(_ head: RequestHead, _ framing: BodyFraming, by policy: Policy) {
        let plan = RequestPlan(.answer, framing, policy)
        if let via = policy.configuration.via, Forwarding.hasPassed(via, head.fields) {
            let problem = Problem(
                .loopDetected, "the request has passed \"\(via)\" before; give each proxy its own via")
            self = RequestPlan(.refuse(problem), from: plan)
            return
        }
        switch head.target {
        case .absolute(let scheme, let authority, let path):
            let query = RouteQuery(
                method: head.method, scheme: scheme, authority: authority, path: path,
                isWebSocket: head.hasWebSocketScheme)
            self = plan.forwarding(head, query)
        case .origin(let path):
            guard let host = head.fields[.host], let authority = Authority(host, defaultPort: 80) else {
                let problem = Problem(.badRequest, "a request with a path for a target needs a Host")
                self = RequestPlan(.refuse(problem), from: plan)
                return
            }
            let query = RouteQuery(
                method: head.method, scheme: .http, authority: authority, path: path, form: .gateway)
            self = plan.forwarding(head, query)
        case .authority(let authority): self = plan.tunnelling(to: authority)
        case .asterisk: self = plan
        }
    }

    private func forwarding(_ head: RequestHead, _ query: RouteQuery) -> RequestPlan {
        var plan = self
        plan.query = query
        let decision: Decision
        do throws(Malformed) {
            decision = try self.policy.decide(query)
        } catch {
            return RequestPlan(.refuse(Problem(.badRequest, error.reason)), from: plan)
        }
        plan.decision = decision
        plan.rewriter = decision.route?.rewriter
        if query.form == .gateway, decision.route == nil {
            let detail =
                "no gateway route matches \(query.authority); use Pintle as a proxy, or give a route an upstream"
            return RequestPlan(.refuse(Problem(.badRequest, detail)), from: plan)
        }
        if let denial = Problem(denying: decision) { return RequestPlan(.refuse(denial), from: plan) }
        if head.hopsLeft == 0 { return RequestPlan(.answer, from: plan) }
        if let contract = self.policy.apiContract(for: decision) {
            do throws(Malformed) {
                plan.operation = try contract.operation(method: head.method, path: decision.path)
            } catch  where contract.checksRequests {
                guard plan.onViolation == .report else {
                    return RequestPlan(.refuse(Problem(breaking: [error.reason])), from: plan)
                }
                plan.undeclared = error.reason
            } catch {
                // Only responses are held to the contract, and it says nothing of this one.
            }
        }
        plan.isSerialized = plan.rewriter?.serializes(head, hasBody: self.framing != .none) == true
        return RequestPlan(plan.needsWholeBody(head) ? .collect : .send, from: plan)
    }

    private func needsWholeBody(_ head: RequestHead) -> Bool {
        if self.isSerialized { return true }
        guard self.framing != .none, let operation, operation.checksRequests else { return false }
        // A header rule may name the type.
        var fields = head.fields
        self.rewriter?.apply(to: &fields)
        return operation.readsRequestBody(fields[.contentType])
    }

    private func tunnelling(to authority: Authority) -> RequestPlan {
        guard self.framing == .none else {
            return RequestPlan(.refuse(Problem(.badRequest, "a CONNECT request has no content")), from: self)
        }
        var plan = self
        let query = RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/", form: .proxy)
        let decision = self.policy.decideTunnel(query)
        (plan.query, plan.decision) = (query, decision)
        return RequestPlan(Problem(denying: decision).map { .refuse($0) } ?? .tunnel(to: authority), from: plan)
    }

    /// Makes the plan with a mask for whatever the route puts into requests.
    package func masked(by mask: String) -> RequestPlan {
        var plan = self
        plan.rewriter = self.decision?.route.map { RequestRewriter($0.configuration.request.masked(by: mask)) }
        return plan
    }

    // MARK: Rules

    /// The consequence of a breach of a contract.
    package var onViolation: ResponseRules.OnViolation { self.policy.onViolation(on: self.decision?.route) }

    /// True where making the request may take longer than a loop has time for.
    package var takesWork: Bool { self.isSerialized || self.operation?.checksRequests == true }

    /// True where a body that cannot be judged is sent all the same: it keeps its form, and its contract only reports.
    package var passesUnjudged: Bool { !self.isSerialized && self.onViolation == .report }

    /// The trailers of a streamed body as they go upstream.
    package func forwarded(trailers: Fields) -> Fields {
        var trailers = trailers
        Forwarding.removeForbidden(fromTrailers: &trailers)
        self.rewriter?.apply(toTrailers: &trailers)
        return trailers
    }
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
