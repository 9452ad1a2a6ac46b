// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintleMessage
package import PintlePolicy

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
        /// Another request would go upstream.
        case request
        /// Another operation of an API contract would apply, or none.
        case contract
        /// The body decides, and only the head is known.
        case unknown
    }

    /// The treatment of a request under one configuration.
    package struct Side: Sendable {
        /// `allow`, `would-deny`, or `deny`.
        package var decision = "allow"
        package var rule: String?
        package var route: String?
        package var trust: String?
        /// The operation of an API contract.
        package var contract: String?
        /// The head that goes upstream, with a mask for values that the route puts into it, and with the secrets of the client; nil
        /// if nothing is sent, or if it depends on the body.
        package var sent: RequestHead?
        fileprivate var needsBody = false
    }

    package struct Difference: Sendable {
        package let kinds: [Kind]
        package let before: Side
        package let after: Side
    }

    private let old: Policy
    private let new: Policy

    package init(from old: Policy, to new: Policy) { (self.old, self.new) = (old, new) }

    /// Plans a request anew.
    ///
    /// - Parameter head: as the client sent it. A head that is no request is the same under each configuration.
    package func compare(_ head: RequestHead) -> Difference {
        guard !head.method.isEmpty, let framing = try? head.bodyFraming() else {
            return Difference(kinds: [], before: Side(), after: Side())
        }
        let before = Self.side(RequestPlan(head, framing, by: self.old), head)
        let after = Self.side(RequestPlan(head, framing, by: self.new), head)
        return Difference(kinds: Self.kinds(before, after), before: before, after: after)
    }

    private static func kinds(_ before: Side, _ after: Side) -> [Kind] {
        if before.decision == "deny" || after.decision == "deny" {
            if before.decision == after.decision { return [] }
            return [after.decision == "deny" ? .denied : .allowed]
        }
        var kinds: [Kind] = []
        if before.decision != after.decision { kinds.append(after.decision == "allow" ? .allowed : .denied) }
        if before.route != after.route { kinds.append(.route) }
        if before.trust != after.trust { kinds.append(.trust) }
        if before.contract != after.contract { kinds.append(.contract) }
        if before.needsBody || after.needsBody {
            kinds.append(.unknown)
        } else if !Self.areEqual(before.sent, after.sent) {
            kinds.append(.request)
        }
        return kinds
    }

    private static func side(_ plan: RequestPlan, _ head: RequestHead) -> Side {
        var side = Side()
        side.rule = plan.decision?.destination.rule
        side.route = plan.decision?.route?.name
        side.trust = plan.decision?.trust?.name
        side.contract = plan.operation?.name
        switch plan.step {
        case .refuse(let problem):
            side.decision = "deny"
            side.rule = side.rule ?? problem.name.rawValue
        case .collect: side.needsBody = true
        case .answer, .send, .tunnel:
            if plan.decision?.reportedBreach != nil || plan.undeclared != nil { side.decision = "would-deny" }
            side.sent = plan.sentHead(from: head, mask: Redaction.mask)
        }
        return side
    }

    private static func areEqual(_ left: RequestHead?, _ right: RequestHead?) -> Bool {
        left?.method == right?.method && left?.target == right?.target && left?.fields == right?.fields
    }
}
