// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension RouteConfiguration {
    /// The keys of the route's rules about requests and responses, which cannot hold inside a tunnel.
    ///
    /// Time limits are not among them, as they apply to any connection; neither is trust, which serves `connect: verify`.
    var rulesLostInTunnels: [String] {
        let (request, response) = (self.request, self.response)
        let lost = [
            ("request.headers", !request.headers.isEmpty), ("request.authorization", request.authorization != nil),
            ("request.parameters", !request.parameters.isEmpty), ("request.serialize", request.serialize != .none),
            ("request.throttle", request.throttle != nil),
            ("request.cookies", request.cookies != .pass), ("response.headers", !response.headers.isEmpty),
            ("response.status", !response.status.isEmpty), ("response.content_types", response.contentTypes != nil),
            ("response.body", response.body != .any), ("response.remove_nulls", response.removeNulls),
            ("response.max_body", response.maxBody != nil), ("contract", self.contract != nil),
            ("redirects", self.redirects != .pass), ("request.forwarded", request.forwarded.form != .off),
            ("cors", self.cors != nil), ("respond", self.answer != nil),
        ]
        return lost.filter(\.1).map(\.0) + self.simulation.keys
    }

    /// The route as it applies to tunnels. If the proxy cannot look into the tunnel, `connect: intercept` is ignored.
    func forTunnels(opaque isOpaque: Bool) -> RouteConfiguration {
        guard isOpaque, self.connect == .intercept else { return self }
        var route = self
        route.connect = nil
        return route
    }

    /// The treatment of a CONNECT to the route's hosts. Without the key `connect`, the tunnel is denied if it would bypass
    /// rules of the route in silence.
    ///
    /// Nil leaves the decision to `tunnels.verify` and to the hosts of trust policies.
    ///
    /// - Parameter isIntercepted: true if `interception.hosts` has the host; no rule is lost in such a tunnel.
    func effectiveConnect(isIntercepted: Bool = false) -> ConnectMode? {
        self.connect ?? (isIntercepted ? .intercept : self.rulesLostInTunnels.isEmpty ? nil : .deny)
    }

    /// The treatment of a CONNECT, depending on its fields and `match.headers`.
    ///
    /// `connect` is for a CONNECT that has those fields. Requests inside a tunnel may have them even if the CONNECT does not:
    /// the tunnel is denied if it would bypass rules of the route, unless `connect` lets tunnels bypass them.
    func connect(withFields hasFields: Bool, isIntercepted: Bool) -> ConnectMode? {
        if hasFields { return self.effectiveConnect(isIntercepted: isIntercepted) }
        switch self.connect {
        // No rule is lost: each request inside is judged by itself.
        case .intercept: return .intercept
        case .tunnel, .verify: return nil
        case .deny, nil: return isIntercepted ? .intercept : self.rulesLostInTunnels.isEmpty ? nil : .deny
        }
    }

    /// The rule that refuses a CONNECT; nil if none does.
    ///
    /// - Parameters:
    ///   - hasFields: true if the CONNECT has the fields of `match.headers`.
    ///   - isIntercepted: true if `interception.hosts` has the host.
    func tunnelDenial(by route: String, withFields hasFields: Bool, isIntercepted: Bool) -> String? {
        guard self.connect(withFields: hasFields, isIntercepted: isIntercepted) == .deny else { return nil }
        if self.connect == .deny, hasFields { return "\(route), connect: deny" }
        let keys = self.rulesLostInTunnels.joined(separator: ", ")
        return
            "\(route), because a tunnel cannot keep its \(keys); connect: intercept keeps them, tunnel or verify on the "
            + "route lets it pass"
    }

    /// True if the route decides about a CONNECT to one of its hosts: it says what to do, or it matches every request to the
    /// host. Method, path and fields of the requests inside are unknown, so any other route leaves the decision to later ones.
    ///
    /// - Parameter hasFields: true if the CONNECT has the fields of `match.headers`.
    func decidesTunnels(withFields hasFields: Bool) -> Bool {
        if self.connect(withFields: hasFields, isIntercepted: false) != nil { return true }
        return self.match.methods.isEmpty && self.match.paths.isEmpty && self.match.headers.isEmpty
    }
}
