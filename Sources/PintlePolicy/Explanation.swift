// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
private import PintleSession

/// The ``RequestPlan`` for one request in words, with the reasons for it, as `pintle explain` prints it. Connects to nothing.
package struct Explanation: Sendable, Equatable {
    /// One line: a topic and a text.
    package struct Line: Sendable, Equatable, CustomStringConvertible {
        /// The topic, such as `route`; lines that belong together have the same topic.
        package let topic: String
        package let text: String
        /// The place of the rule in the configuration; nil if there is none, or if the text says it.
        package let place: SourcePosition?

        package init(topic: String, text: String, place: SourcePosition? = nil) {
            (self.topic, self.text, self.place) = (topic, text, place)
        }

        package var description: String {
            "\(self.topic)\(String(repeating: " ", count: max(1, 13 - self.topic.count)))\(self.text)"
        }
    }

    /// The lines, in the order in which the policy decides.
    package private(set) var lines: [Line] = []

    /// The topic of routes that do not match.
    package static let passedOver = "passed over"

    /// The most routes that are listed although they do not match.
    private static let toldRoutes = 32

    private let policy: Policy
    private let head: RequestHead
    private let client: ProxyIdentity
    let plan: RequestPlan

    /// Takes a request through the policy as if a client had sent it to the proxy.
    ///
    /// - Parameters:
    ///   - head: its target is in absolute form, an authority for CONNECT, or a path with a Host for the gateway.
    ///   - client: the names of the client. Default: none.
    ///   - isCaptured: true for the CONNECT of a connection that was captured.
    /// - Throws: the problem if the request would be refused before any rule is checked.
    package init(
        _ policy: Policy, _ head: RequestHead, of client: ProxyIdentity = ProxyIdentity(), isCaptured: Bool = false
    ) throws(Problem) {
        self.policy = policy
        self.head = head
        self.client = client
        do throws(WireError) {
            self.plan = RequestPlan(
                head, try head.bodyFraming(), by: policy, of: client, tunnel: TunnelKind(isCaptured: isCaptured))
        } catch {
            throw Problem(error)
        }
        let clients = policy.configuration.clients.allow.map(\.description).joined(separator: ", ")
        self.add("clients", "may be in \(clients)")
        if let auth = policy.configuration.clients.basicAuth {
            let users = auth.users.count == 1 ? "the one user" : "one of \(auth.users.count) users"
            self.add("clients", "must be \(users) of clients.basic_auth")
        }
        if policy.namesClients || client != ProxyIdentity() { self.add("client", "\(client)") }
        if case .asterisk = head.target {
            throw Problem(.badRequest, "give the whole URL: http://host/path or https://host/path")
        }
        guard let query = self.plan.query, let decision = self.plan.decision else {
            if case .refuse(let problem) = self.plan.step { throw problem }
            preconditionFailure("BUG: a request is neither refused nor decided on")
        }
        self.tell(query, decision)
        self.tellStep()
        if isCaptured { self.tellCaptured(query) }
    }

    package static func == (left: Explanation, right: Explanation) -> Bool { left.lines == right.lines }

    private mutating func add(_ topic: String, _ text: String, at place: SourcePosition? = nil) {
        self.lines.append(Line(topic: topic, text: text, place: place))
    }

    private mutating func tell(_ query: RouteQuery, _ decision: Decision) {
        self.tellRoute(query, decision)
        // Rules about destinations and trust do not apply.
        if decision.route?.configuration.answer != nil { return self.tellRules(decision) }
        self.tellDestination(decision)
        self.tellPort(decision)
        self.tellWay(decision)
        self.tellTrust(decision)
        if case .authority = self.head.target { return }
        if query.scheme == .https, query.form == .proxy { self.tellTunnel(to: query.authority, decision) }
        self.tellContract(decision)
        self.tellRules(decision)
    }

    private mutating func tellRules(_ decision: Decision) {
        guard let route = decision.route else { return }
        let summary = RouteSummary(route.configuration, self.policy.configuration.enforcement)
        for rule in summary.requestRules { self.add("request", rule) }
        self.tellFields(route.configuration.request)
        for rule in summary.responseRules { self.add("response", rule) }
        for rule in summary.gatewayRules { self.add("gateway", rule) }
        for rule in summary.cacheRules { self.add("cache", rule) }
        self.tellSimulation(route.configuration.simulation, decision)
        for rule in summary.redirectRules { self.add("redirects", rule) }
    }

    private mutating func tellSimulation(_ rules: SimulationRules, _ decision: Decision) {
        // Most routes have none.
        if rules.isEmpty { return }
        // A request that needs its body first is compared as the client sent it.
        let sent = try? self.plan.request(from: self.head, .streamed, of: .local).transfer
        let request = SimulatedRequest(
            method: self.head.method, scheme: decision.scheme, authority: decision.authority,
            path: sent?.path ?? decision.path, fields: sent?.fields ?? self.head.fields, client: nil)
        for line in rules.words(for: request) { self.add("simulation", line.text, at: line.place) }
    }

    private mutating func tellStep() {
        if case .ask = self.plan.step {
            let time = self.policy.configuration.ask.timeout.spelled
            self.add("asked", "it waits for an answer for \(time) (ask.timeout), and is refused without one")
        }
        if let problem = self.plan.refusal {
            return self.add("answer", "\(problem.status) \(problem.name.rawValue)")
        }
        switch self.plan.grantedStep {
        case .refuse, .ask: break
        case .respond(let answer):
            self.add("answer", "\(answer.status), \(answer.isPreflight ? "to a preflight, by cors" : "by respond")")
            if let note = answer.note { self.add("answer", note) }
        case .answer: self.add("answer", "this proxy's own: Max-Forwards lets the request go no further")
        case .collect:
            let reason =
                self.plan.isSerialized
                ? "the serializer needs"
                : self.plan.collectsForRedirects ? "a redirect may need again" : "the contract needs"
            self.add("sent", "when all of its body is here, which \(reason)")
        case .send: self.add("sent", "as it comes")
        case .tunnel:
            let isIntercepted = self.plan.decision?.isIntercepted == true
            self.add(
                "sent",
                isIntercepted ? "nothing: requests inside are judged as they come" : "nothing: bytes are relayed")
        }
    }

    /// Describes the outcome if the first bytes of a captured connection are no ClientHello.
    private mutating func tellCaptured(_ query: RouteQuery) {
        let place = "http://\(query.authority.description(for: .http))/…"
        if IPAddress(query.authority.host) == nil {
            self.add("in clear", "requests are judged one by one, as \(place)")
        } else {
            self.add(
                "address",
                "the lines above judge the address alone; at a listener capture:// the server that a ClientHello names takes its "
                    + "place, and is judged as CONNECT NAME:\(query.authority.port)")
            self.add(
                "in clear",
                "requests are judged one by one, as http://NAME/… with the name in their Host; without one as \(place)")
        }
        let client = "a client that speaks something else, or waits for its server,"
        let other = self.policy.decideTunnel(query, TunnelKind(isOpaque: true, isCaptured: true))
        if let rule = other.destination.denial {
            self.add("other", "\(client) is denied by \(rule)")
        } else if let rule = other.question {
            self.add("other", "\(client) is asked about, by \(rule)")
        } else {
            self.add("other", "\(client) is relayed")
        }
    }

    private mutating func tellRoute(_ query: RouteQuery, _ decision: Decision) {
        let passedOver = self.policy.routes.routes.prefix(decision.route?.index ?? Int.max)
        for route in passedOver.prefix(Self.toldRoutes) {
            self.add(
                Self.passedOver, "\(route.description): \(route.mismatch(query) ?? "does not match")",
                at: route.configuration.position)
        }
        if passedOver.count > Self.toldRoutes {
            self.add(Self.passedOver, "and \(passedOver.count - Self.toldRoutes) more")
        }
        if let route = decision.route {
            let position = route.configuration.position
            let summary = RouteSummary(route.configuration, self.policy.configuration.enforcement)
            self.add("route", "\(route.description) at \(position): \(summary.matched)", at: position)
        } else {
            self.add(
                "route", query.form == .gateway ? "none matches" : "none matches; the request passes as it is")
        }
        if case .authority = self.head.target { return }
        // It is not sent.
        if case .respond = self.plan.step { return }
        let authority = decision.authority.description(for: decision.scheme)
        self.add("sent to", "\(query.method) \(decision.scheme.rawValue)://\(authority)\(decision.path)")
    }

    private mutating func tellDestination(_ decision: Decision) {
        switch decision.destination {
        case .allowed(let rule):
            self.add("destination", "\(decision.authority) is allowed by \(rule)", at: self.place(of: rule.description))
        case .denied(let rule), .prohibited(let rule):
            return self.add(
                "destination", "\(decision.authority) is denied by \(rule)", at: self.place(of: rule.description))
        case .reported: break
        case .asked(let rule):
            self.add(
                "destination", "\(decision.authority) is asked about, by \(rule)", at: self.place(of: rule.description))
        case .byAddress:
            let isReported = self.policy.destinations.areReported ? ", which is only reported" : ""
            self.add(
                "destination",
                "\(decision.authority) is judged when its address is known, by destinations.allow\(isReported)")
        }
        if let breach = decision.reportedBreach {
            self.add("destination", breach, at: decision.reportedRule.flatMap { self.place(of: $0) })
        }
        if let own = self.plan.ownDestination { self.add("destination", own.detail) }
        if case .parent = decision.way { return }
        for rule in self.policy.destinations.addressRules(for: decision.authority, decision.rights) {
            self.add("destination", "the address that is dialled is judged by \(rule)")
        }
    }

    private func place(of rule: String) -> SourcePosition? { self.policy.configuration.place(ofRule: rule) }

    private mutating func tellPort(_ decision: Decision) {
        guard case .authority = self.head.target else {
            let rule = self.policy.ports
            guard decision.route?.configuration.upstream == nil, self.policy.configuration.destinations.ports != .auto,
                rule.allows(decision.authority.port)
            else { return }
            return self.add("port", "\(decision.authority.port) is allowed by \(rule.description)")
        }
        let rule = self.policy.connectPorts
        if rule.allows(decision.authority.port) {
            self.add("port", "\(decision.authority.port) is allowed by \(rule.description)")
        }
        guard self.policy.configuration.destinations.requiresSNIMatch else { return }
        let host = decision.authority.host
        let mayLackName =
            self.policy.refusal(
                ofServerName: nil, inTunnelTo: decision.authority, of: self.client) == nil
        let named = mayLackName ? "must name \(host) or nothing" : "must name \(host)"
        let demand = IPAddress(host) == nil ? named : "must name no denied host"
        let isReported = self.policy.destinations.areReported ? ", which is only reported" : ""
        self.add("server name", "a ClientHello in the tunnel \(demand), by destinations.require_sni_match\(isReported)")
    }

    /// Describes the outcome for a client that asks for a tunnel instead, as nearly all clients do for https.
    private mutating func tellTunnel(to authority: Authority, _ decision: Decision) {
        let tunnel = self.policy.decideTunnel(
            RouteQuery(
                method: "CONNECT", scheme: .https, authority: authority, path: "/", client: self.plan.client))
        if let rule = tunnel.destination.denial {
            return self.add("tunnel", "a CONNECT to \(authority) is refused: it is denied by \(rule)")
        }
        if let rule = tunnel.question, decision.question == nil {
            self.add("tunnel", "a CONNECT to \(authority) is asked about, by \(rule)")
        }
        if let breach = tunnel.reportedBreach, breach != decision.reportedBreach {
            self.add("tunnel", "a CONNECT to \(authority) passes, though \(breach)")
        }
        if tunnel.isIntercepted {
            self.add("tunnel", "a CONNECT to \(authority) is intercepted: this request in it is judged as is said here")
        } else {
            if let lost = decision.route?.configuration.rulesLostInTunnels, !lost.isEmpty {
                self.add("tunnel", "a CONNECT to \(authority) goes past \(lost.joined(separator: ", ")) of the route")
            }
            self.tellProof(of: tunnel, insteadOf: decision)
        }
    }

    /// Describes the proof by the destination of a tunnel, if it gives any or the trust policy of the request suggests one.
    private mutating func tellProof(of tunnel: Decision, insteadOf request: Decision) {
        if let trust = tunnel.trust {
            let grounds = trust.index == nil ? "the system's roots" : trust.name
            self.add(
                "tunnel",
                "a CONNECT to \(tunnel.authority) opens when the destination has proved itself under \(grounds)")
        } else if request.trust?.index != nil || self.policy.trust.names(tunnel.authority) {
            self.add("tunnel", "a CONNECT to \(tunnel.authority) is relayed, and nothing is verified")
        }
    }

    private mutating func tellWay(_ decision: Decision) {
        switch decision.way {
        case .straight: break
        case .direct(let rule): self.add("way", "to the origin itself, by \(rule)")
        case .parent(let number):
            let parent = self.policy.parents.parents[number]
            let isTunnel = if case .authority = self.head.target { true } else { false }
            let form =
                switch parent.server.scheme {
                case .socks5: "a connection that it makes"
                case .http, .https:
                    isTunnel || decision.scheme == .https ? "a tunnel by CONNECT" : "the request in absolute form"
                }
            self.add("way", "by the parent \(parent.url) of \(parent.source): \(form)")
            if IPAddress(decision.authority.host) == nil {
                self.add("way", "the parent resolves the name; its address is judged by no rule here")
            }
            guard parent.server.scheme == .https else { return }
            let trust = self.policy.trust.choose(for: parent.server.authority, route: nil)
            let grounds = trust.index == nil ? "the system's roots" : "\(trust.name), by \(trust.reason)"
            self.add("way", "the parent's certificate is judged by \(grounds)")
        }
    }

    private mutating func tellTrust(_ decision: Decision) {
        guard let trust = decision.trust else {
            guard case .authority = self.head.target else {
                return self.add("trust", "http: there is nothing to verify")
            }
            guard decision.destination.denial == nil else { return }
            return self.add(
                "trust",
                decision.isIntercepted
                    ? "the tunnel is intercepted; the origin of each request inside is verified then"
                    : "a tunnel is relayed; nothing is verified")
        }
        self.add(
            "trust", trust.index.map { self.grounds($0, trust) } ?? "the system's roots: there is \(trust.reason)",
            at: trust.index.map { self.policy.configuration.trust[$0].position })
        if case .authority = self.head.target {
            self.add("trust", "the destination proves itself before the tunnel opens; nothing is decrypted")
        }
    }

    /// The demands of the trust policy with this index, and the reason why it applies.
    private func grounds(_ index: Int, _ trust: TrustChoice) -> String {
        let policy = self.policy.configuration.trust[index]
        var text = "\(trust.name), by \(trust.reason): "
        switch policy.pinning {
        case .none: text += "no pins"
        case .publicKey: text += "\(policy.pins.count + policy.certificates.count) pinned keys"
        case .certificate: text += "\(policy.certificates.count) pinned certificates"
        }
        if let expires = policy.expires { text += ", until \(expires)" }
        let enforcement = policy.enforcement ?? self.policy.configuration.enforcement
        return enforcement == .report ? text + ", which is only reported" : text
    }

    private mutating func tellContract(_ decision: Decision) {
        guard let contract = self.policy.apiContract(for: decision) else { return }
        let subject = contract.checksRequests ? "requests and responses" : "responses"
        let isReported = self.plan.onViolation == .report
        if let operation = self.plan.operation {
            let text = "\(operation.name) of \(contract.file), for \(subject)"
            return self.add("contract", isReported ? text + ", whose violations are only reported" : text)
        }
        switch self.plan.step {
        case .refuse(let problem) where problem.name == .unserializableRequest:
            self.add("contract", "\(contract.file): \(problem.detail); the request is refused")
        case .refuse: break
        case .respond, .answer, .collect, .send, .tunnel, .ask:
            guard let undeclared = self.plan.undeclared else { break }
            self.add("contract", "\(contract.file): \(undeclared); the request is sent all the same, and reported")
        }
    }

    /// Describes the effect of default fields and authorization on the fields that the request has.
    private mutating func tellFields(_ rules: RequestRules) {
        var fields = self.head.fields
        for name in rules.headers.remove { fields.remove(name) }
        let names = rules.headers.defaults.map(\.name) + (rules.authorization == nil ? [] : ["Authorization"])
        for name in names {
            self.add("fields", fields.contains(name) ? "\(name) stays: the request has one" : "\(name) is added")
        }
    }
}
