// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

extension Policy {
    /// What the policy says about a CONNECT: the tunnel goes where it was asked to, whatever upstream a route has.
    ///
    /// It names a trust policy where the destination must prove itself first. Nothing looks into other tunnels, and a line
    /// that named a policy would claim what was not checked.
    package func decideTunnel(_ query: RouteQuery) -> Decision {
        let route = self.routes.first(matching: query)
        let isListed = self.verifiedTunnels.first(query.authority) { _ in true } != nil
        var destination = self.destinations.judge(query.authority)
        // The first rule that refuses is the one that is told.
        if destination.denial == nil, !self.connectPorts.allows(query.authority.port) {
            destination = .denied(by: self.connectPorts.description)
        }
        let mode = route?.configuration.connect ?? (isListed ? .verify : .tunnel)
        return Decision(
            route: route, scheme: query.scheme, authority: query.authority, path: query.path,
            destination: destination,
            trust: mode == .verify ? self.trust.choose(for: query.authority, route: route) : nil)
    }
}

extension HostIndex {
    /// All of `patterns`, numbered in their order.
    init(_ patterns: [HostPattern]) {
        self.init()
        for (number, pattern) in patterns.enumerated() { self.insert(pattern, number: number) }
    }
}
