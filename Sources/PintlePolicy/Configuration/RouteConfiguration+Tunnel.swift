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
            ("request.throttle", request.throttle != nil),
            ("request.cookies", request.cookies != .pass), ("response.headers", !response.headers.isEmpty),
            ("response.status", !response.status.isEmpty), ("response.content_types", response.contentTypes != nil),
            ("response.body", response.body != .any), ("response.remove_nulls", response.removeNulls),
            ("response.max_body", response.maxBody != nil), ("contract", self.contract != nil),
            ("redirects", self.redirects != .pass),
        ]
        return lost.filter(\.1).map(\.0)
    }

    /// The route as it is for a tunnel: one that nobody can look into is judged as if nothing asked for its interception.
    func forTunnels(opaque isOpaque: Bool) -> RouteConfiguration {
        guard isOpaque, self.connect == .intercept else { return self }
        var route = self
        route.connect = nil
        return route
    }

    /// What becomes of a CONNECT to its hosts: without the key, a tunnel would go past the route's rules in silence.
    ///
    /// Nil leaves it to `tunnels.verify` and to the hosts of trust policies.
    ///
    /// - Parameter isIntercepted: true where `interception.hosts` has the host, in whose tunnels no rule is lost.
    func effectiveConnect(isIntercepted: Bool = false) -> ConnectMode? {
        self.connect ?? (isIntercepted ? .intercept : self.rulesLostInTunnels.isEmpty ? nil : .deny)
    }

    /// The same for a CONNECT that has the fields of `match.headers`, or has not.
    ///
    /// `connect` is for those that have them. What such a tunnel carries may have them in any case: rules that it would go past
    /// deny it, unless the route lets tunnels past them.
    func connect(withFields hasFields: Bool, isIntercepted: Bool) -> ConnectMode? {
        if hasFields { return self.effectiveConnect(isIntercepted: isIntercepted) }
        switch self.connect {
        // Nothing is lost where each request inside is judged by itself.
        case .intercept: return .intercept
        case .tunnel, .verify: return nil
        case .deny, nil: return isIntercepted ? .intercept : self.rulesLostInTunnels.isEmpty ? nil : .deny
        }
    }

    /// The rule that refuses a CONNECT; nil where none does.
    ///
    /// - Parameters:
    ///   - hasFields: true where the CONNECT has the fields of `match.headers`.
    ///   - isIntercepted: true where `interception.hosts` has the host.
    func tunnelDenial(by route: String, withFields hasFields: Bool, isIntercepted: Bool) -> String? {
        guard self.connect(withFields: hasFields, isIntercepted: isIntercepted) == .deny else { return nil }
        if self.connect == .deny, hasFields { return "\(route), connect: deny" }
        let keys = self.rulesLostInTunnels.joined(separator: ", ")
        return
            "\(route), because a tunnel cannot keep its \(keys); connect: intercept keeps them, tunnel or verify on the "
            + "route lets it pass"
    }

    /// True where it says what becomes of a CONNECT to one of its hosts. Method, path and fields of what a tunnel carries are
    /// not known, so only a route for all of them leaves nothing to those behind it.
    ///
    /// - Parameter hasFields: whether the CONNECT has the fields of `match.headers`.
    func decidesTunnels(withFields hasFields: Bool) -> Bool {
        if self.connect(withFields: hasFields, isIntercepted: false) != nil { return true }
        return self.match.methods.isEmpty && self.match.paths.isEmpty && self.match.headers.isEmpty
    }
}
