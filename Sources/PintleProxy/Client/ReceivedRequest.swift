// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// A client's request as received, with the results that depend only on it and on the present configuration.
///
/// A recurrent request stands for all requests that are equal to it byte for byte; so these results are computed once for all
/// of them, see ``RecurrentRequests``. Used on its event loop's thread only.
final class ReceivedRequest {
    /// The head. Its fields are moved into the planned request, unless the request is recurrent.
    private(set) var head: RequestHead
    let framing: BodyFraming
    /// The client's Accept, which decides the format of problems.
    let accept: String?
    /// The Host of a gateway request.
    let gatewayHost: String?
    /// True if the client wants to keep its connection (RFC 9112 §9.3).
    let keepsConnection: Bool
    /// True for the CONNECT of a client that has not sent it, because its connection was captured.
    let isCaptured: Bool
    /// True if this object stands for all equal requests.
    let isRecurrent: Bool
    private var plan: (plan: RequestPlan, policy: Policy)?
    private var made: Result<PlannedRequest, Problem>?
    /// The request as it was completed last inside an enclosure, with which destination, and of which client.
    private var completed: (request: ReceivedRequest, place: EnclosurePlace, client: ProxyIdentity)?
    /// The cache lookup, if it depends on the request alone and any stored response may answer.
    private(set) var question: CacheLookup?

    init(_ head: consuming RequestHead, _ framing: BodyFraming, isRecurrent: Bool = false, isCaptured: Bool = false) {
        self.accept = head.fields[.accept]
        self.gatewayHost = if case .origin = head.target { head.fields[.host] } else { nil }
        self.keepsConnection = head.fields.keepsConnection(minorVersion: head.minorVersion)
        self.head = head
        self.framing = framing
        (self.isRecurrent, self.isCaptured) = (isRecurrent, isCaptured)
    }

    /// True if a body follows that the client sends without asking if it may. It is read even if it is not needed, so that the
    /// connection can be kept.
    var deliversBody: Bool { self.framing != .none && !self.head.fields.hasToken("100-continue", in: .expect) }

    /// The plan for the request.
    ///
    /// - Parameter client: the names of its client: by its own Proxy-Authorization, or by its enclosure.
    func plan(by policy: Policy, of client: ProxyIdentity) -> RequestPlan {
        if let known = self.plan {
            precondition(known.policy === policy, "BUG: a request is remembered beyond its configuration")
            precondition(
                known.plan.client == policy.ruledIdentity(client), "BUG: a request is remembered for another client")
            return known.plan
        }
        let plan = RequestPlan(
            self.head, self.framing, by: policy, of: client, tunnel: TunnelKind(isCaptured: self.isCaptured))
        if self.isRecurrent { self.plan = (plan, policy) }
        return plan
    }

    /// Copies the head for sinks that want it after the exchange.
    ///
    /// - Parameter hasFields: false to leave them out.
    func copy(to block: HeadBlock, hasFields: Bool = true) {
        block.begin(self.head.method, self.head.target, hasFields ? self.head.fields : Fields())
    }

    /// Makes the planned request, if that needs no work on another thread.
    ///
    /// - Parameters:
    ///   - plan: the plan for this request.
    ///   - client: the client that has sent it. Equal requests may come from others.
    func make(
        by plan: RequestPlan, _ body: RequestPlan.Body, of client: RequestClient
    ) -> Result<PlannedRequest, Problem> {
        guard self.isRecurrent, !plan.tellsClient, case .streamed = body else {
            return plan.make(self.takeHead(), body, of: client)
        }
        if let made { return made }
        let made = plan.make(self.head, body, of: client)
        self.made = made
        return made
    }

    /// The request with the destination of an enclosure; nil if equal requests were not completed last with it, and for this
    /// client: its plan is for one client.
    func completed(for place: EnclosurePlace, of client: ProxyIdentity) -> ReceivedRequest? {
        guard let completed, completed.place == place, completed.client == client else { return nil }
        return completed.request
    }

    /// Remembers the completed request for equal requests. Does nothing for one that is not recurrent.
    func note(completed request: ReceivedRequest, for place: EnclosurePlace, of client: ProxyIdentity) {
        if request.isRecurrent { self.completed = (request, place, client) }
    }

    /// Remembers the cache lookup for equal requests.
    func note(_ question: CacheLookup) {
        if self.isRecurrent { self.question = question }
    }

    /// The head with its fields moved out of this object, so that they can be changed without a copy.
    private func takeHead() -> RequestHead {
        if self.isRecurrent { return self.head }
        var head = RequestHead(
            method: self.head.method, target: self.head.target, minorVersion: self.head.minorVersion)
        head.cameByHTTP2 = self.head.cameByHTTP2
        swap(&head.fields, &self.head.fields)
        return head
    }
}
