// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintleMessage
package import PintlePolicy
internal import PintleSerialization

/// The treatment of a request, and of a response to it, by the plan that decides live traffic. Connects to nothing.
package struct RequestRehearsal: Sendable {
    /// A request as it goes upstream.
    package struct Sent: Sendable {
        package let head: RequestHead
        package let body: [UInt8]
        package var url: String { self.head.target.url ?? "" }
    }

    /// The facts that are known, as the exchange log spells them.
    package private(set) var facts: [PolicyTest.Fact: String] = [:]
    /// The request that is made; nil if none is.
    package private(set) var sent: Sent?
    /// That request without the values that the route puts into it, for messages.
    private var shown: Sent?
    /// The names of all violations, each once.
    package private(set) var violations: [String] = []
    /// The problems and violations in words.
    package private(set) var reasons: [String] = []
    /// The decision; nil if the request was refused before.
    package private(set) var decision: Decision?
    /// The rule that let the client in; nil if it was refused.
    package private(set) var clientRule: String?
    /// True if a response was judged by a contract.
    package private(set) var hasJudgedResponse = false
    /// The operation of the API contract by which it was judged; nil if none applied.
    package private(set) var judgedOperation: String?

    /// True if a recording answers, which the test's response stands for.
    private var playsRecording = false

    private let redaction: Redaction
    private let bodyBuffer: Int
    /// The plan, as long as the exchange goes on, and the request that is made; nil of a tunnel.
    private var course: (plan: RequestPlan, run: DryRun?)?

    /// Takes a request as far as an exchange comes without its origin.
    package init(_ request: PolicyTest.Request, by policy: Policy) {
        self.redaction = policy.configuration.log.redact ? .on : .off
        self.bodyBuffer = policy.configuration.limits.bodyBuffer
        self.facts[.decision] = "allow"
        if let refusal = self.admit(request, by: policy) {
            if refusal.name == .clientDenied { self.facts[.rule] = ClientRules.denyingRule }
            self.answer(refusal)
            return
        }
        do throws(WireError) {
            let plan = RequestPlan(
                request.head, try request.head.bodyFraming(), by: policy, of: request.client.identity(under: policy))
            self.perform(plan, request, by: policy)
        } catch {
            self.answer(Problem(error))
        }
    }

    /// The answer to a client that may not use the proxy, or does not authenticate; nil if it may.
    private mutating func admit(_ request: PolicyTest.Request, by policy: Policy) -> Problem? {
        if let refusal = policy.clients.refusal(of: request.client.address) { return refusal }
        if case .allowed(let rule) = policy.clients.judge(request.client.address) { self.clientRule = rule }
        // The CONNECT of an intercepted tunnel has authenticated the client.
        guard let auth = policy.configuration.clients.basicAuth, !request.isIntercepted else { return nil }
        guard let user = request.client.user else { return auth.refusal(hasTried: false) }
        return auth.users.has(user: user) ? nil : auth.refusal(hasTried: true)
    }

    private mutating func perform(_ plan: RequestPlan, _ request: PolicyTest.Request, by policy: Policy) {
        self.note(plan)
        // A test shows what follows once the destination is allowed.
        if case .ask = plan.step { self.facts[.decision] = "ask" }
        switch plan.grantedStep {
        case .refuse(let problem): self.answer(problem)
        case .ask: break
        case .respond(let answer): self.respond(answer)
        case .answer: self.facts[.status] = "\(OwnResponse(asLastOf: request.head).head.status)"
        case .tunnel(let authority):
            self.facts[.upstream] = authority.description
            self.facts[.status] = "200"
            self.course = (plan, nil)
            self.dial(plan)
        case .send, .collect:
            do throws(Problem) {
                let run = try DryRun(
                    plan, request.head, body: request.body,
                    of: RequestClient(address: request.client.address, isSecure: false))
                self.take(run)
                self.course = (plan, run)
                self.simulate(run, request, by: policy)
                self.dial(plan)
            } catch {
                self.answer(error)
            }
        }
    }

    /// Takes the response of the route itself.
    private mutating func respond(_ answer: RouteAnswer) {
        self.facts[.status] = "\(answer.status)"
        self.facts[.source] = "pintle"
        if let note = answer.note { self.reasons.append(note) }
    }

    private mutating func note(_ plan: RequestPlan) {
        guard let decision = plan.decision else { return }
        self.decision = decision
        self.facts[.rule] = decision.destination.rule?.description
        self.facts[.route] = decision.route?.name
        self.facts[.trust] = decision.trust?.name
        if case .refuse = plan.step { return }
        guard let breach = decision.reportedBreach else { return }
        self.facts[.decision] = "would-deny"
        self.report(.destinationDenied, breach)
    }

    /// Notes a breach that is only reported.
    private mutating func report(_ name: Problem.Name, _ reason: String) {
        if self.facts[.would] == nil { self.facts[.would] = name.rawValue }
        self.violated(name.rawValue)
        self.reasons.append("only reported: \(reason)")
    }

    private mutating func violated(_ name: String) {
        if !self.violations.contains(name) { self.violations.append(name) }
    }

    private mutating func answer(_ problem: Problem) {
        let placeholder = self.course?.plan.placeholder(insteadOf: problem.name)
        self.course = nil
        self.facts[.decision] = problem.name.decision
        self.facts[.problem] = problem.name.rawValue
        self.facts[.status] = "\(placeholder?.status ?? problem.status)"
        if problem.breaksContract { self.violated(ViolationKind.unserializableRequest.rawValue) }
        self.reasons.append("\(problem.status) \(problem.name.rawValue): \(problem.detail)")
        self.reasons += problem.causes
    }

    private mutating func take(_ run: DryRun) {
        let sent = Sent(head: run.head, body: run.body)
        (self.sent, self.shown) = (sent, sent)
        if self.redaction == .on {
            // A request may break its contract if the mask takes the place of a value; then none of it is shown.
            self.shown = (try? run.masked(by: Redaction.mask)).map { Sent(head: $0.head, body: $0.body) }
        }
        self.facts[.upstream] = sent.url
        self.facts[.method] = sent.head.method
        for breach in run.reported { self.report(breach.kind, breach.reason) }
    }

    // MARK: Simulation

    /// Answers in the place of the origin, if the route does that for the first request of all. Recordings are not read, so that a
    /// response of the test stands for the one that is played.
    private mutating func simulate(_ run: DryRun, _ request: PolicyTest.Request, by policy: Policy) {
        let rules = run.decision.route?.configuration.simulation ?? policy.configuration.simulation.unrouted
        let asked = SimulatedRequest(
            method: run.head.method, scheme: run.decision.scheme, authority: run.decision.authority,
            path: run.head.target.path ?? run.decision.path, fields: run.head.fields,
            client: request.client.address.description)
        let plan = rules.plan(forFirst: asked)
        var made: (attempt: SimulationPlan.Attempt, answer: GeneratedAnswer)?
        var failed: Set<String> = []
        for attempt in plan.attempts where made == nil {
            let answer = self.course?.plan.operation?.answer(
                attempt.kind, accept: run.head.fields["Accept"], prefer: run.head.fields["Prefer"], seed: attempt.seed)
            if let answer { made = (attempt, answer) } else { failed.insert(attempt.rule) }
        }
        let source = plan.source(after: made?.attempt, of: rules)
        self.facts[.source] = source?.rawValue ?? "origin"
        var names = plan.rules.filter { !failed.contains($0) }
        // Later mocks are not asked.
        if let rule = made?.attempt.rule, let index = names.firstIndex(of: rule), rule.hasPrefix("mock") {
            names.removeSubrange((index + 1)...)
        }
        if source == .recording { names.append("replay") }
        if !names.isEmpty { self.facts[.simulation] = names.joined(separator: ", ") }
        if let made {
            let isJudged = made.attempt.kind.simulation == .mock
            self.answer(made.answer.status, made.answer.fields, made.answer.body, isJudged: isJudged && plan.cut == nil)
        } else {
            switch plan.answer {
            case .mock(let answer):
                self.answer(answer.status, answer.responseFields, answer.body, isJudged: plan.cut == nil)
            case .fault(let answer): self.answer(answer.status, answer.responseFields, answer.body, isJudged: false)
            case .reset: self.course = nil
            case nil: self.playsRecording = source == .recording
            }
        }
    }

    private mutating func answer(_ status: UInt16, _ fields: Fields, _ body: [UInt8], isJudged: Bool) {
        let response = PolicyTest.Response(head: ResponseHead(status: status, fields: fields), body: body)
        if isJudged { self.receive(response) } else { self.facts[.status] = "\(status)" }
        self.course = nil
    }

    // MARK: The origin

    /// Refuses a destination at which the proxy listens; does nothing if it is not dialled.
    private mutating func dial(_ plan: RequestPlan) {
        guard self.course != nil, !self.playsRecording, let problem = plan.ownDestination else { return }
        (self.sent, self.shown) = (nil, nil)
        for fact in [PolicyTest.Fact.rule, .upstream, .method, .source] { self.facts[fact] = nil }
        self.answer(problem)
    }

    /// The reason why no chain is judged; nil if the server must show one.
    package var reasonAgainstChain: String? {
        guard let course, !self.playsRecording else { return "no server is asked" }
        guard course.plan.decision?.trust == nil else { return nil }
        return course.run == nil ? "nothing is verified before the tunnel opens" : "the request goes in clear text"
    }

    /// Takes the verdict on the chain that the server of the request shows.
    package mutating func meet(_ chain: ChainRehearsal) {
        guard self.course != nil else { return }
        if let problem = chain.refusal {
            self.violated(problem.name.rawValue)
            self.answer(problem)
        } else if let reported = chain.reported {
            self.report(.pinMismatch, reported)
        }
    }

    /// Takes the response of the origin; does nothing if the request is not sent, or its origin is not trusted.
    package mutating func receive(_ response: PolicyTest.Response) {
        guard let course, let run = course.run else { return }
        self.facts[.status] = "\(response.head.status)"
        guard let validator = run.validator else { return }
        self.hasJudgedResponse = true
        self.judgedOperation = course.plan.operation?.name
        let violation = validator.verdict(on: response.head, body: response.body, bodyBuffer: self.bodyBuffer)
        guard let violation else { return }
        let problem = Problem(violation)
        guard validator.onViolation != .report else {
            for error in violation.chain { self.report(Problem(error).name, error.message) }
            return
        }
        for kind in violation.kinds { self.violated(kind.rawValue) }
        self.answer(problem)
        if validator.onViolation == .placeholder, let placeholder = course.plan.placeholder {
            self.facts[.status] = "\(placeholder.status)"
        }
    }

    // MARK: Messages

    /// A fact in the form that may be shown.
    package func shown(_ fact: PolicyTest.Fact) -> String? {
        guard fact == .upstream, self.sent != nil else { return self.facts[fact] }
        guard let shown else { return Redaction.mask }
        return self.redaction.url(shown.url)
    }

    /// The lines of a field of the request that is made, in the form that may be shown.
    package func shown(field name: String) -> [String] {
        guard let shown else { return (self.sent?.head.fields.values(of: name) ?? []).map { _ in Redaction.mask } }
        return shown.head.fields.values(of: name).map { self.redaction.field(name: name, value: $0) }
    }

    /// The body of the request that is made, in the form that may be shown.
    package var shownBody: String {
        self.shown.map { String(decoding: $0.body, as: UTF8.self) } ?? Redaction.mask
    }
}

extension PolicyTest.Client {
    /// The names that rules know it by: without `clients.basic_auth` no client has a user.
    func identity(under policy: Policy) -> ProxyIdentity {
        let user = policy.configuration.clients.basicAuth.flatMap { auth in
            self.user.map { auth.users.spelling(of: $0) ?? $0 }
        }
        return ProxyIdentity(user: user, tag: self.tag)
    }
}
