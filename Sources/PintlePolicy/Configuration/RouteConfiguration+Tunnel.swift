// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension RouteConfiguration {
    /// The keys of its rules about requests and responses, none of which holds for what goes through a tunnel.
    ///
    /// Time limits are about any connection, and trust is for `connect: verify`.
    var rulesLostInTunnels: [String] {
        let (request, response) = (self.request, self.response)
        let lost = [
            ("request.headers", !request.headers.isEmpty), ("request.authorization", request.authorization != nil),
            ("request.parameters", !request.parameters.isEmpty), ("request.serialize", request.serialize != .none),
            ("request.throttle", request.throttle != nil), ("response.headers", !response.headers.isEmpty),
            ("response.status", !response.status.isEmpty), ("response.content_types", response.contentTypes != nil),
            ("response.body", response.body != .any), ("response.remove_nulls", response.removeNulls),
            ("response.max_body", response.maxBody != nil), ("contract", self.contract != nil),
        ]
        return lost.filter(\.1).map(\.0)
    }

    /// What becomes of a CONNECT to its hosts: without the key, a tunnel would go past the route's rules in silence.
    ///
    /// Nil leaves it to `tunnels.verify`.
    ///
    /// - Parameter isIntercepted: true where `interception.hosts` has the host, in whose tunnels no rule is lost.
    func effectiveConnect(isIntercepted: Bool = false) -> ConnectMode? {
        self.connect ?? (isIntercepted ? .intercept : self.rulesLostInTunnels.isEmpty ? nil : .deny)
    }

    /// The rule that refuses a CONNECT; nil where none does.
    func tunnelDenial(by route: String, isIntercepted: Bool) -> String? {
        guard self.effectiveConnect(isIntercepted: isIntercepted) == .deny else { return nil }
        if self.connect == .deny { return "\(route), connect: deny" }
        let keys = self.rulesLostInTunnels.joined(separator: ", ")
        return
            "\(route), because a tunnel cannot keep its \(keys); connect: intercept keeps them, tunnel or verify on the "
            + "route lets it pass"
    }

    /// Whether it says what becomes of a CONNECT to one of its hosts. Method and path of what a tunnel carries are not
    /// known, so only a route for all of them leaves nothing to those behind it.
    var decidesTunnels: Bool {
        self.effectiveConnect() != nil || (self.match.methods.isEmpty && self.match.paths.isEmpty)
    }
}
