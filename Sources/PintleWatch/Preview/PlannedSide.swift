// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy

/// The plan for a request under one configuration, with the meaning of the rules that it follows.
struct PlannedSide {
    /// The request that goes upstream.
    private enum Sent {
        /// The request is refused, answered here, or opens a tunnel.
        case nothing
        /// The head and the body, for each possibility: without the hidden fields, and with them.
        case made([(head: RequestHead, body: [UInt8])])
        /// It is not made yet, or depends on parts that are not known.
        case unknown
    }

    var side = PlanComparison.Side()
    let plan: RequestPlan
    let policy: Policy
    let meaning: PolicyMeaning
    private let isRepresentative: Bool
    private var sent = Sent.nothing

    init(_ request: PlanComparison.Request, _ framing: BodyFraming, by policy: Policy, _ meaning: PolicyMeaning) {
        self.plan = RequestPlan(
            request.head, framing, by: policy, of: request.client,
            tunnel: TunnelKind(isOpaque: request.isOpaque, isCaptured: request.isCaptured))
        (self.policy, self.meaning, self.isRepresentative) = (policy, meaning, request.isRepresentative)
        self.describe()
        if case .ask = self.plan.step { self.side.decision = "ask" }
        switch self.plan.grantedStep {
        // Other requests that meet the same conditions may keep to the contract.
        case .refuse(let problem) where request.isRepresentative && problem.breaksContract: self.sent = .unknown
        case .refuse(let problem): self.refuse(problem)
        case .respond, .answer, .ask: break
        case .tunnel:
            self.side.tunnel = self.plan.decision.map {
                $0.isIntercepted ? "intercept" : $0.trust == nil ? "tunnel" : "verify"
            }
            self.judgeAddress(request)
        case .collect, .send:
            self.judgeAddress(request)
            if self.side.decision != "deny" {
                self.sent = .unknown
                if request.isRepresentative { self.side.releases = self.releases(to: request) }
            }
        }
        if self.side.decision == "allow", self.plan.decision?.reportedBreach != nil || self.plan.undeclared != nil {
            self.side.decision = "would-deny"
        }
        if request.isOpaque, let decision = self.plan.decision { self.nameOpaqueRule(decision, request) }
    }

    private mutating func describe() {
        self.side.contract = self.plan.operation?.name
        guard let decision = self.plan.decision else { return }
        self.side.rule = decision.destination.rule?.description ?? decision.reportedRule
        self.side.isUndecided = decision.destination == .byAddress
        (self.side.route, self.side.routeRule) = (decision.route?.name, decision.route?.description)
        (self.side.trust, self.side.trustRule) = (decision.trust?.name, decision.trust?.reason)
        switch decision.way {
        case .straight: break
        case .direct(let rule): self.side.wayRule = rule
        case .parent(let number):
            self.side.way = self.policy.parents.parents[number].url
            self.side.wayRule = self.policy.parents.parents[number].source
        }
    }

    /// Names the rule about protocols that cannot be read, if one decides.
    private mutating func nameOpaqueRule(_ decision: Decision, _ request: PlanComparison.Request) {
        let key = "isolate.other_tcp"
        switch decision.destination {
        case .allowed where self.side.decision == "allow":
            let rules = self.policy.destinations
            let rule = rules.ruleForAnyProtocol(to: decision.authority, for: rules.rights(of: self.plan.client))
            if let rule {
                self.side.rule = rule.description
            } else if request.isCaptured {
                self.side.rule = "\(key) allow"
            }
        // The remedy in the reason names the destination, and would tell equal decisions apart.
        case .denied(let rule) where rule.description.hasPrefix(key),
            .reported(let rule) where rule.description.hasPrefix(key):
            self.side.rule = "\(key) deny"
        case .allowed, .denied, .reported, .prohibited, .asked, .byAddress: break
        }
    }

    private func releases(to request: PlanComparison.Request) -> [PlanComparison.Release] {
        guard let decision = self.plan.decision else { return [] }
        return self.policy.configuration.credentials.compactMap { credential in
            let parts = credential.releasedParts(of: request.head.method, by: decision)
            return parts.isEmpty
                ? nil
                : PlanComparison.Release(credential: credential.name, parts: parts, trust: credential.trust.value)
        }
    }

    private mutating func refuse(_ problem: Problem) {
        self.side.decision = "deny"
        let destination = self.plan.decision?.destination
        self.side.rule = destination?.denial ?? problem.name.rawValue
        self.side.advice = destination?.denial == nil ? nil : destination?.rule?.advice
    }

    /// Judges the address that would be dialled. An upstream proxy resolves names itself.
    private mutating func judgeAddress(_ request: PlanComparison.Request) {
        guard let decision = self.plan.decision, self.policy.destinations.judgesAddresses,
            IPAddress(decision.authority.host) == nil
        else { return }
        if case .parent = decision.way { return }
        (self.side.unresolved, self.side.rights) = (decision.authority, decision.rights)
        if let address = request.address { self.side = self.side.resolved(to: address, by: self.policy) }
    }

    // MARK: The request upstream

    /// True if both plans send a request, and the same one, whatever fields and body are. Contracts that requests must keep to are
    /// compared, too, unless the request stands for others: a contract is then a difference of its own.
    func sendsAlike(_ other: PlannedSide) -> Bool {
        guard case .unknown = self.sent, case .unknown = other.sent, let left = self.plan.decision,
            let right = other.plan.decision
        else { return false }
        return left.scheme == right.scheme && left.authority == right.authority && left.path == right.path
            && self.policy.configuration.via == other.policy.configuration.via
            && self.meaning.route(left.route).request == other.meaning.route(right.route).request
            && (self.isRepresentative || self.keepsAlike(other))
    }

    /// True if both requests must keep to the same contract, and have the same consequences if they do not.
    private func keepsAlike(_ other: PlannedSide) -> Bool {
        self.contract == other.contract && self.plan.onViolation == other.plan.onViolation
            && (self.plan.undeclared == nil) == (other.plan.undeclared == nil)
    }

    /// Makes the request, as far as its body is known or has no effect. Does nothing if none is sent.
    mutating func make(_ request: PlanComparison.Request) {
        guard case .unknown = self.sent, self.side.decision != "deny" else { return }
        if request.isPartial, self.plan.takesWork { return }
        var heads = [request.head]
        if !request.hiddenFields.isEmpty {
            heads.append(request.head)
            for name in request.hiddenFields { heads[1].fields.append(name, Redaction.mask) }
        }
        var made: [(head: RequestHead, body: [UInt8])] = []
        for head in heads {
            switch self.plan.trial(head, body: request.body, mask: self.meaning.mask) {
            case .refused(let problem): return self.refuse(problem)
            case .unknown: return
            case .sent(let head, let body, let isReported):
                if isReported { self.side.decision = "would-deny" }
                made.append((head, body))
            }
        }
        self.sent = .made(made)
    }

    /// The treatment with the request that goes upstream, in the form in which it may be shown.
    func shown(_ request: PlanComparison.Request) -> PlanComparison.Side {
        var side = self.side
        if case .made = self.sent,
            case .sent(let head, _, _) = self.plan.trial(request.head, body: request.body, mask: Redaction.mask)
        {
            side.sent = head
        }
        return side
    }

    // MARK: Differences

    /// The kinds of differences between this treatment and a later one.
    func kinds(to after: PlannedSide) -> [PlanComparison.Kind] {
        let decisions = (self.side.decision, after.side.decision)
        var kinds = Self.kind(of: decisions.0, decisions.1).map { [$0] } ?? []
        if self.side.isUndecided || after.side.isUndecided { kinds = [] }
        if decisions.0 == "deny" || decisions.1 == "deny" { return kinds }
        if self.side.route != after.side.route { kinds.append(.route) }
        if !Self.isAlike(self.plan.decision?.trust, self.meaning, after.plan.decision?.trust, after.meaning) {
            kinds.append(.trust)
        }
        if !self.meaning.isSameWay(self.plan.decision?.way, as: after.meaning, after.plan.decision?.way) {
            kinds.append(.way)
        }
        self.addTunnel(to: after, &kinds)
        if self.side.contract != after.side.contract || self.contract != after.contract { kinds.append(.contract) }
        self.addRules(to: after, &kinds)
        return kinds
    }

    /// The difference between two decisions; nil if they are the same.
    static func kind(of before: String, _ after: String) -> PlanComparison.Kind? {
        // From the mildest to the strictest.
        let order = ["allow", "would-deny", "ask", "deny"]
        let (left, right) = (order.firstIndex(of: before) ?? 0, order.firstIndex(of: after) ?? 0)
        return left == right ? nil : left < right ? .denied : .allowed
    }

    private static func isAlike(
        _ left: TrustChoice?, _ meaning: PolicyMeaning, _ right: TrustChoice?, _ other: PolicyMeaning
    ) -> Bool {
        left?.name == right?.name && meaning.trust(left) == other.trust(right)
    }

    private func addTunnel(to after: PlannedSide, _ kinds: inout [PlanComparison.Kind]) {
        guard self.plan.isTunnel else { return }
        let (left, right) = (self.plan.decision, after.plan.decision)
        let isAlike =
            self.side.tunnel == after.side.tunnel
            && Self.isAlike(left?.trustIfRelayed, self.meaning, right?.trustIfRelayed, after.meaning)
            && self.meaning.route(left?.route).transfer == after.meaning.route(right?.route).transfer
        if !isAlike { kinds.append(.tunnel) }
    }

    /// The contract that the messages must keep to.
    var contract: ContractMeaning? {
        guard !self.plan.isTunnel, let decision = self.plan.decision, self.policy.apiContract(for: decision) != nil
        else { return nil }
        return self.meaning.route(decision.route).contract ?? self.meaning.contract
    }

    private func addRules(to after: PlannedSide, _ kinds: inout [PlanComparison.Kind]) {
        guard !self.plan.isTunnel, let left = self.plan.decision, let right = after.plan.decision else { return }
        let rules = (self.meaning.route(left.route), after.meaning.route(right.route))
        switch (self.sent, after.sent) {
        case (.unknown, .unknown) where self.sendsAlike(after):
            if rules.0.transfer != rules.1.transfer { kinds.append(.request) }
        case (.made(let before), .made(let after)):
            let differ = zip(before, after).map { $0.head != $1.head || $0.body != $1.body }
            if rules.0.transfer != rules.1.transfer || differ.allSatisfy(\.self) {
                kinds.append(.request)
            } else if differ.contains(true) {
                kinds.append(.unknown)
            }
        case (.nothing, .nothing): break
        case (.unknown, _), (_, .unknown):
            kinds.append(rules.0.transfer != rules.1.transfer ? .request : .unknown)
        case (.nothing, .made), (.made, .nothing): kinds.append(.request)
        }
        if rules.0.response != rules.1.response { kinds.append(.response) }
        if let kind = ResponseVerdict.kind(of: self.side.response, after.side.response) { kinds.append(kind) }
    }
}
