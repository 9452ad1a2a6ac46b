// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintleMessage
package import PintlePolicy
internal import PintleSession

/// The differences that another configuration makes for requests, by the plan that decides about live traffic.
package struct PlanComparison: Sendable {
    /// A kind of difference.
    package enum Kind: String, CaseIterable, Sendable {
        /// It would be refused, and is not.
        case denied
        /// It is refused, and would not be.
        case allowed
        case route
        case trust
        /// Another upstream proxy, or none.
        case way
        /// Another treatment of a tunnel: relayed, verified or intercepted.
        case tunnel
        /// Another request would go upstream, or in another way.
        case request
        /// Other rules would apply to the response.
        case response
        /// Another API contract or operation would apply, or none.
        case contract
        /// The response that came would break rules, or break them with worse consequences.
        case rejected
        /// The response that came breaks rules, and would not, or would with milder consequences.
        case accepted
        /// A part of the exchange decides that is not known.
        case unknown
    }

    /// The treatment of a request under one configuration.
    package struct Side: Sendable {
        /// `allow`, `would-deny`, `ask` or `deny`.
        package var decision = "allow"
        /// The rule about the destination, or the problem that the client gets.
        package var rule: String?
        package var route: String?
        package var trust: String?
        /// The address of the upstream proxy.
        package var way: String?
        /// `tunnel`, `verify` or `intercept`, for a CONNECT.
        package var tunnel: String?
        /// The operation of an API contract.
        package var contract: String?
        /// The head that goes upstream, with a mask for values that the route puts into it, and with the secrets of the client; nil
        /// if nothing is sent, or if it depends on the body.
        package var sent: RequestHead?
        /// `routes[3] "charge"`.
        package var routeRule: String?
        /// The reason for the trust policy, as in `trust.payments.hosts[1] "*.pay.example"`.
        package var trustRule: String?
        /// The reason for the way, as in `upstream_proxy.no_proxy[0] "*.corp.example"`.
        package var wayRule: String?
        /// The destination, if its name has still to be resolved, and rules about addresses may then refuse it.
        package var unresolved: Authority?
        /// The client's rights by which the address is judged.
        var rights = ClientRights.none
        /// The words that the rule which denies the destination has for the client.
        package var advice: String?
        /// The credentials that the request may have; empty unless the request stands for others.
        package var releases: [Release] = []
        /// True if only the address decides, as no rule about names does.
        package var isUndecided = false
        /// The verdict on the response that came; nil if there is none, or if both configurations judge it by the same rules.
        package var response: ResponseVerdict?

        /// The rule that decides about one kind of difference; nil if no rule does.
        package func rule(for kind: Kind) -> String? {
            switch kind {
            case .denied, .allowed, .unknown: self.rule ?? self.routeRule
            case .route, .request, .response, .contract, .rejected, .accepted, .tunnel: self.routeRule
            case .trust: self.trustRule
            case .way: self.wayRule
            }
        }
    }

    /// A credential that a request may have.
    package struct Release: Sendable, Equatable {
        package let credential: String
        package let parts: [CredentialConfiguration.Part]
        /// The name of the trust policy that the origin must satisfy.
        package let trust: String
    }

    package struct Difference: Sendable {
        package var kinds: [Kind]
        package let before: Side
        package let after: Side
    }

    /// A request, with circumstances that decide about some requests.
    package struct Request: Sendable {
        package var head: RequestHead
        /// The names of the client.
        package var client: ProxyIdentity
        /// The body; nil if it is not known.
        package var body: [UInt8]?
        /// The address that the name of the destination was resolved to; nil if it is not known.
        package var address: IPAddress?
        /// True if the query or fields are not known whole.
        package var isPartial = false
        /// Names of fields that the request may have, although the head does not have them.
        package var hiddenFields: [String] = []
        /// True for a tunnel that should be intercepted and cannot be.
        package var isOpaque = false
        /// True for a tunnel whose client did not ask for it.
        package var isCaptured = false
        /// True if the request stands for all that meet the same conditions: rules are then compared by their content, not by
        /// their effect on this request.
        package var isRepresentative = false

        package init(_ head: RequestHead, of client: ProxyIdentity = ProxyIdentity()) {
            (self.head, self.client) = (head, client)
        }
    }

    package let old: Policy
    package let new: Policy
    private let meanings: (old: PolicyMeaning, new: PolicyMeaning)
    /// Addresses that stand for all addresses; empty if no rule is about addresses.
    let addresses: [IPAddress]
    /// True if both have the same rules about destinations.
    private let judgesAlike: Bool

    /// - Parameters:
    ///   - surroundings: access to the contracts and schemas that the configurations name, to compare their content.
    ///   - hidesValues: true if all values that routes put into requests count as equal. Otherwise a reader who may not see a secret
    ///     could guess it, and would be told if the guess is right. Default false.
    package init(
        from old: Policy, to new: Policy, surroundings: LoaderEnvironment, hidingValues hidesValues: Bool = false
    ) {
        (self.old, self.new) = (old, new)
        let mask = hidesValues ? Redaction.mask : nil
        self.meanings = (
            PolicyMeaning(old, surroundings: surroundings, mask: mask),
            PolicyMeaning(new, surroundings: surroundings, mask: mask)
        )
        let rules = [old, new].map(\.configuration.destinations)
        self.judgesAlike =
            rules[0] == rules[1] && old.configuration.enforcement == new.configuration.enforcement
            && old.configuration.listen.contains(where: \.isExposed)
                == new.configuration.listen.contains(where: \.isExposed)
        let judgesAddresses = old.destinations.judgesAddresses || new.destinations.judgesAddresses
        self.addresses =
            judgesAddresses
            ? IPAddress.witnesses(
                of: rules.flatMap { $0.patterns.compactMap(\.network) }, isSpecial: true) : []
    }

    /// True if both have the same rules with the same content in the same order.
    package var areIdentical: Bool {
        self.old.hasSameTables(as: self.new) && self.meanings.old.isEqual(to: self.meanings.new)
    }

    /// Upstream proxies over TLS, and the trust policies that they are verified by, which no plan of a request tells.
    package var trustOfParents: (old: [TrustChoice], new: [TrustChoice], areAlike: Bool) {
        let (left, right) = (self.old.trustOfParents, self.new.trustOfParents)
        let areAlike =
            left.map(\.name) == right.map(\.name)
            && left.map { self.meanings.old.trust($0) } == right.map { self.meanings.new.trust($0) }
        return (left, right, areAlike)
    }

    /// Plans a request anew.
    ///
    /// - Parameter head: as the client sent it. A head that is no request is the same under each configuration.
    package func compare(_ head: RequestHead) -> Difference { self.compare(Request(head)) }

    /// Plans a request anew.
    ///
    /// - Parameter response: the response that came, judged as if it came again; nil compares nothing but its rules. Called only if
    ///   these differ.
    package func compare(_ request: Request, response: () -> RecordedResponse? = { nil }) -> Difference {
        guard !request.head.method.isEmpty, let framing = try? request.head.bodyFraming() else {
            return Difference(kinds: [], before: Side(), after: Side())
        }
        var before = PlannedSide(request, framing, by: self.old, self.meanings.old)
        var after = PlannedSide(request, framing, by: self.new, self.meanings.new)
        if !request.isRepresentative, !before.sendsAlike(after) {
            before.make(request)
            after.make(request)
        }
        if !before.judgesAlike(after), let response = response() {
            if let doubt = before.doubt(about: response, beside: after) {
                (before.side.response, after.side.response) = (.unknown(doubt), .unknown(doubt))
            } else {
                before.judge(response, to: request)
                after.judge(response, to: request)
            }
        }
        let kinds = before.kinds(to: after)
        guard !kinds.isEmpty else { return Difference(kinds: [], before: before.side, after: after.side) }
        return Difference(kinds: kinds, before: before.shown(request), after: after.shown(request))
    }

    /// True if the address to which the name of the destination leads may make a difference.
    func dependsOnAddress(_ found: Difference) -> Bool {
        guard found.before.unresolved != nil || found.after.unresolved != nil,
            found.before.decision != "deny" || found.after.decision != "deny"
        else { return false }
        let isAlike =
            found.before.unresolved == found.after.unresolved && found.before.decision == found.after.decision
            && found.before.rights == found.after.rights
        return !isAlike || !self.judgesAlike
    }
}

extension PlanComparison.Side {
    /// The treatment if the name of the destination leads to this address.
    func resolved(to address: IPAddress, by policy: Policy) -> PlanComparison.Side {
        guard let authority = self.unresolved else { return self }
        return self.resolved(
            by: policy.destinations.judge(
                address: address, port: authority.port, asked: authority, for: self.rights))
    }

    /// The treatment if this is the decision on the address.
    func resolved(by judged: DestinationDecision) -> PlanComparison.Side {
        var side = self
        (side.unresolved, side.isUndecided) = (nil, false)
        // The question comes before the name has an address.
        if side.decision != "ask" || judged.denial != nil { side.rule = judged.rule?.description ?? self.rule }
        if judged.denial != nil {
            (side.decision, side.advice) = ("deny", judged.rule?.advice)
        } else if judged.reported != nil {
            side.decision = "would-deny"
        }
        return side
    }
}
