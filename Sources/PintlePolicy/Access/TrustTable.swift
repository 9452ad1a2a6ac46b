// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The trust policy that applies to an origin, and the reason.
package struct TrustChoice: Sendable, Equatable {
    /// The index in `Policy.trust`; nil for the system's roots without pins.
    package let index: Int?
    /// The policy's name; `system` if there is none.
    package let name: String
    /// `routes[0].trust`, `trust.payments.hosts[1] "*.pay.example"`, `trust.default` or `no trust policy`.
    package let reason: String
}

/// The choice of trust policies, compiled.
package struct TrustTable: Sendable {
    private let byName: [String: Int]
    private let hosts: HostIndex
    /// One per pattern, in the order of the file.
    private let choices: [TrustChoice]
    private let fallback: TrustChoice
    /// True if `trust.default` has pins: hosts without a policy of their own are then still pinned.
    private let fallbackPins: Bool

    init(_ policies: [TrustConfiguration]) {
        var hosts = HostIndex()
        var choices: [TrustChoice] = []
        for (index, policy) in policies.enumerated() {
            for (number, host) in policy.hosts.enumerated() {
                hosts.insert(host.value, number: choices.count)
                let reason = "trust.\(policy.name).hosts[\(number)] \"\(host.value)\""
                choices.append(TrustChoice(index: index, name: policy.name, reason: reason))
            }
        }
        self.hosts = hosts
        self.choices = choices
        self.byName = Dictionary(policies.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let name = TrustConfiguration.defaultName
        self.fallback =
            self.byName[name].map { TrustChoice(index: $0, name: name, reason: "trust.default") }
            ?? TrustChoice(index: nil, name: "system", reason: "no trust policy")
        self.fallbackPins = policies.contains { $0.name == name && $0.pinning != .none }
    }

    /// The policy for an https origin: the route's, else the first with a matching host, else `trust.default`, else
    /// the system's roots.
    package func choose(for authority: Authority, route: Route?) -> TrustChoice {
        if let route, let name = route.configuration.trust?.value, let index = self.byName[name] {
            return TrustChoice(index: index, name: name, reason: "routes[\(route.index)].trust")
        }
        return self.hosts.first(authority) { _ in true }.map { self.choices[$0] } ?? self.fallback
    }

    /// The index of the policy of a name; nil if there is none.
    func index(of name: String) -> Int? { self.byName[name] }

    /// True if the `hosts` of a policy name the origin.
    func names(_ authority: Authority) -> Bool { self.hosts.first(authority) { _ in true } != nil }

    /// True if `choice` is the fallback and pins nothing: neither a route nor the hosts of a policy name the origin, and
    /// `trust.default`, if there is one, has no pins.
    func isUnpinned(_ choice: TrustChoice) -> Bool { choice == self.fallback && !self.fallbackPins }
}
