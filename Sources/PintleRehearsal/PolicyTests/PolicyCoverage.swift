// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy

/// The parts of a configuration that tests can reach, and those that they did reach.
package struct PolicyCoverage: Sendable {
    /// A kind of part. Raw values are the names in reports.
    package enum Kind: String, Sendable, CaseIterable {
        /// Written rules about clients and destinations.
        case rules
        case routes
        /// The pins of trust policies, which a chain reaches that they match or refuse.
        case pins
        /// The demands of routes on responses, and the operations of API contracts, which a response reaches that they judge.
        case contracts
    }

    /// A part, such as a route.
    package struct Part: Sendable, Equatable {
        package let kind: Kind
        /// The name in messages, as in `routes[0] "charge"`.
        package let name: String
        package let position: SourcePosition
        package fileprivate(set) var isReached = false
    }

    /// All parts, by kind, in the order of the file.
    package private(set) var parts: [Part] = []
    private var places: [String: Int] = [:]

    init(_ policy: Policy) {
        let configuration = policy.configuration
        for (list, rules) in [
            ("clients.allow", configuration.clients.allow.map { "\"\($0)\"" }),
            ("destinations.allow", configuration.destinations.allow.map(\.quoted)),
            ("destinations.deny", configuration.destinations.deny.map(\.quoted)),
            ("destinations.ask", configuration.destinations.ask.map { "\"\($0)\"" }),
        ] {
            for (index, rule) in rules.enumerated() {
                self.add(.rules, "\(list)[\(index)]", " \(rule)", configuration.place(ofRule: "\(list)[\(index)]"))
            }
        }
        self.add(.rules, "destinations.default", "", configuration.place(ofRule: "destinations.default"))
        for route in policy.routes.routes {
            self.add(.routes, Self.key(of: route), " \"\(route.name)\"", route.configuration.position)
        }
        for policy in configuration.trust where policy.pinning != .none {
            self.add(.pins, "trust.\(policy.name)", "", policy.position)
        }
        for route in policy.routes.routes {
            let configuration = route.configuration
            if route.contract != nil || configuration.response.maxBody != nil {
                self.add(.contracts, Self.contractKey(of: route), " \"\(route.name)\"", configuration.position)
            }
            self.add(route.apiContract, at: configuration.contract?.file.position, Self.operationKey(of: route))
        }
        self.add(policy.apiContract, at: configuration.contract?.file.position, Self.operationKey(of: nil))
    }

    /// Adds the operations of an API contract, each of which is a part.
    private mutating func add(_ contract: APIContract?, at position: SourcePosition?, _ key: (String) -> String) {
        for name in contract?.operationNames ?? [] { self.add(.contracts, key(name), "", position) }
    }

    private mutating func add(_ kind: Kind, _ key: String, _ words: String, _ position: SourcePosition?) {
        // A default that is not written is no part of the file.
        guard let position else { return }
        self.places["\(kind) \(key)"] = self.parts.count
        self.parts.append(Part(kind: kind, name: key + words, position: position))
    }

    private static func key(of route: Route) -> String { "routes[\(route.index)]" }
    private static func contractKey(of route: Route) -> String { "routes[\(route.index)] response" }
    /// - Parameter route: nil for the contract of the whole configuration.
    private static func operationKey(of route: Route?) -> (String) -> String {
        { (route.map { "\(Self.key(of: $0)) " } ?? "") + "contract \($0)" }
    }

    private mutating func reach(_ kind: Kind, _ key: String) {
        if let place = self.places["\(kind) \(key)"] { self.parts[place].isReached = true }
    }

    mutating func note(_ request: RequestRehearsal) {
        for rule in [
            request.clientRule, request.decision?.destination.rule?.description, request.decision?.reportedRule,
        ] {
            guard let rule else { continue }
            self.reach(.rules, String(rule.prefix { $0 != " " && $0 != "," }))
        }
        guard let decision = request.decision else { return }
        if let route = decision.route {
            self.reach(.routes, Self.key(of: route))
            if request.hasJudgedResponse { self.reach(.contracts, Self.contractKey(of: route)) }
        }
        if let operation = request.judgedOperation {
            // The contract of a route takes the place of that of the configuration.
            let owner = decision.route.flatMap { $0.apiContract == nil ? nil : $0 }
            self.reach(.contracts, Self.operationKey(of: owner)(operation))
        }
    }

    mutating func note(_ chain: ChainRehearsal) {
        guard let name = chain.facts[.trust], chain.pinnedPolicy != nil else { return }
        self.reach(.pins, "trust.\(name)")
    }

    /// The parts of a kind, and how many of them were reached.
    package func count(of kind: Kind) -> (reached: Int, all: Int) {
        let parts = self.parts.filter { $0.kind == kind }
        return (parts.count(where: \.isReached), parts.count)
    }

    /// The share of a kind in whole per cent, rounded down, so that 100 means all; nil if there is no part of it.
    package func percentage(of kind: Kind) -> Int? {
        let (reached, all) = self.count(of: kind)
        return all == 0 ? nil : reached * 100 / all
    }

    /// The parts that no test reached.
    package var unreached: [Part] { self.parts.filter { !$0.isReached } }
}
