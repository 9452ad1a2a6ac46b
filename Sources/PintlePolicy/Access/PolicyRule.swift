// SPDX-License-Identifier: Apache-2.0

/// A rule about clients or destinations that can decide about an exchange.
package struct PolicyRule: Sendable, Equatable {
    /// The name: a member of a list, as logs have it, such as `destinations.deny[0] "*.ads.example"`; or a key, such as
    /// `destinations.default`, which logs may follow with a reason.
    package let name: String
    /// The place in the file; nil for a rule that is not a line of its own.
    package let position: SourcePosition?

    init(_ name: String, at position: SourcePosition? = nil) { (self.name, self.position) = (name, position) }
}

extension Policy {
    /// The rules about clients, in their order, then the one for clients that none of them allows, then those about destinations.
    ///
    /// ``DestinationRules`` counts on this order of the lists and of the default.
    package var rules: [PolicyRule] {
        let clients = self.configuration.clients.places
        var rules = self.clients.names.map { PolicyRule($0, at: clients[$0]) }
        rules.append(PolicyRule(ClientRules.denyingRule))
        let destinations = self.configuration.destinations.places
        rules += self.destinations.listedNames.map { PolicyRule($0, at: destinations[$0]) }
        rules += [
            DestinationRules.defaultKey, "destinations.private_addresses", "destinations.connect_ports",
            "destinations.ports",
            "destinations.require_sni_match", "unpinned_hosts", "tunnels.verify",
        ].map { PolicyRule($0) }
        for route in self.routes.routes where route.configuration.connect == .deny {
            rules.append(PolicyRule("\(route.description), connect: deny", at: route.configuration.position))
        }
        return rules
    }
}
