// SPDX-License-Identifier: Apache-2.0

package import PintleWatch

/// One class of differences between two configurations: a kind, the rule that decides on each side, and one request for which they
/// decide.
package struct PolicyDifference: Sendable, Equatable {
    package enum Kind: Sendable, Hashable {
        case plan(PlanComparison.Kind)
        /// A client that may use the proxy under one configuration alone.
        case client
        /// Other words for clients that are denied a destination.
        case reason
        /// A key that shows in no plan of a request.
        case setting

        /// The name in reports.
        package var name: String {
            switch self {
            case .plan(.unknown): "cannot be told"
            case .plan(let kind): kind.rawValue
            case .client: "client"
            case .reason: "reason"
            case .setting: "setting"
            }
        }
    }

    /// The treatment by one configuration.
    package struct Side: Sendable, Equatable, Hashable {
        /// The decision in a word, as far as it is about the kind: `deny`, the name of a route or of a trust policy.
        package var decision: String
        package var rule: String?
        /// `file:line:column`.
        package var place: String?
    }

    package let kind: Kind
    package var before: Side
    package var after: Side
    /// A request, or the key of a setting, or the address of a client; `tcp://HOST:PORT` for a captured connection that carries
    /// neither TLS nor HTTP.
    package let witness: String
    /// True for the verdict on such a connection, which is told beside that on requests: the rule may be the same.
    package var isCaptured = false
    /// Fields of the request on which the decision depends, as `Name: value`.
    package var fields: [String] = []
    /// The id of the exchange in the log; nil for a request that no client has made.
    package var id: String?
    /// The line of the recorded traffic; nil for a request that no client has made.
    package var line: Int?
    /// The number of requests of the class that were tried or recorded.
    package var count = 1
}

extension PolicyDifference.Side {
    init(_ side: PlanComparison.Side, _ kind: PlanComparison.Kind, _ places: RulePlaces) {
        self.rule = side.rule(for: kind)
        self.place = self.rule.flatMap(places.place)
        switch kind {
        case .denied, .allowed: self.decision = side.decision
        case .route: self.decision = side.route ?? "no route"
        case .trust: self.decision = side.trust ?? "nothing is verified"
        case .way: self.decision = side.way ?? "direct"
        case .tunnel: self.decision = side.tunnel ?? side.decision
        case .contract: self.decision = side.contract ?? "no operation"
        case .rejected, .accepted: self.decision = side.response?.outcome.rawValue ?? "passes"
        case .request, .response, .unknown: self.decision = side.route ?? "no route"
        }
    }
}

/// Collects differences into classes, in the order in which they are found.
struct DifferenceClasses {
    private struct Key: Hashable {
        let kind: PolicyDifference.Kind
        let before: PolicyDifference.Side
        let after: PolicyDifference.Side
        let isCaptured: Bool
    }

    /// The most classes. A rule for many hosts is one class; more are counted, and no longer told apart.
    static let most = 100_000

    private(set) var all: [PolicyDifference] = []
    private var indices: [Key: Int] = [:]

    /// Adds a difference to its class.
    mutating func add(_ difference: PolicyDifference) {
        let key = Key(
            kind: difference.kind, before: difference.before, after: difference.after,
            isCaptured: difference.isCaptured)
        if let index = self.indices[key] {
            self.all[index].count += difference.count
        } else if self.all.count < Self.most {
            self.indices[key] = self.all.count
            self.all.append(difference)
        } else {
            self.all[self.all.count - 1].count += difference.count
        }
    }
}
