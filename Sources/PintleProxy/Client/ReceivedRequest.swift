// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// The request of a client as it was received, and what follows from it and the configuration in force alone.
///
/// A recurrent one stands for all requests that are equal to it byte for byte, so what follows is found once for all of them:
/// see ``RecurrentRequests``. Used on its loop's thread only.
final class ReceivedRequest {
    /// The head; of a request that is not recurrent its fields are moved into the request that is made of it.
    private(set) var head: RequestHead
    let framing: BodyFraming
    /// The client's Accept, which decides what a problem looks like.
    let accept: String?
    /// The Host of a gateway request.
    let gatewayHost: String?
    /// True where the client would send another request over its connection (RFC 9112 §9.3).
    let keepsConnection: Bool
    /// True where other requests are this one.
    let isRecurrent: Bool
    private var plan: (plan: RequestPlan, policy: Policy)?
    private var made: Result<PlannedRequest, Problem>?
    /// Asks the cache, where nothing but the request decides on what is asked, and all that is kept may answer.
    private(set) var question: CacheQuestion?

    init(_ head: consuming RequestHead, _ framing: BodyFraming, isRecurrent: Bool = false) {
        self.accept = head.fields[.accept]
        self.gatewayHost = if case .origin = head.target { head.fields[.host] } else { nil }
        self.keepsConnection = head.fields.keepsConnection(minorVersion: head.minorVersion)
        self.head = head
        self.framing = framing
        self.isRecurrent = isRecurrent
    }

    /// The plan for the request.
    func plan(by policy: Policy) -> RequestPlan {
        if let known = self.plan {
            precondition(known.policy === policy, "BUG: a request is remembered beyond its configuration")
            return known.plan
        }
        let plan = RequestPlan(self.head, self.framing, by: policy)
        if self.isRecurrent { self.plan = (plan, policy) }
        return plan
    }

    /// Makes the request where that is no work.
    ///
    /// - Parameter plan: for this request.
    func make(by plan: RequestPlan, _ body: RequestPlan.Body) -> Result<PlannedRequest, Problem> {
        guard self.isRecurrent, case .streamed = body else {
            return plan.make(self.takeHead(), body)
        }
        if let made { return made }
        let made = plan.make(self.head, body)
        self.made = made
        return made
    }

    /// Notes the question to the cache that equal requests ask, too.
    func note(_ question: CacheQuestion) {
        if self.isRecurrent { self.question = question }
    }

    /// The head with its fields moved out of here, so that they are changed without being copied.
    private func takeHead() -> RequestHead {
        if self.isRecurrent { return self.head }
        var head = RequestHead(
            method: self.head.method, target: self.head.target, minorVersion: self.head.minorVersion)
        head.cameByHTTP2 = self.head.cameByHTTP2
        swap(&head.fields, &self.head.fields)
        return head
    }
}
