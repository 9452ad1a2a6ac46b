// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension RequestPlan {
    /// The problem that the client gets when the destination is dialled, because this proxy listens there.
    ///
    /// Live traffic is refused by the addresses on which listeners and the admin endpoint are bound. This is known of
    /// those that the configuration names with their ports; of port 0, and of names that have to be looked up, it is not.
    ///
    /// - Returns: nil for other destinations, and if nothing is dialled.
    package var ownDestination: Problem? {
        switch self.grantedStep {
        case .refuse, .respond, .answer, .ask: return nil
        case .collect, .send, .tunnel: break
        }
        // The requests inside are judged, each by itself.
        guard let decision, !decision.isIntercepted else { return nil }
        let authority = decision.authority
        let isByParent = if case .parent = decision.way { true } else { false }
        let isName = authority.isNameOfLoopback || isByParent && self.policy.ownNames.contains(authority.host)
        let addresses = isName ? ["127.0.0.1", "::1"] : [authority.host]
        guard let own = addresses.first(where: { self.policy.listens(at: Authority(host: $0, port: authority.port)) })
        else { return nil }
        // Rules and messages name an IPv4 address in its own form, also if it is mapped into IPv6.
        let ip = IPAddress(own)?.description ?? own
        let detail =
            isByParent
            ? "\(authority) is where this proxy listens: a loop"
            : "no address of \(authority) may be dialled: \(ip) with port \(authority.port) is where this proxy listens"
        return Problem(.destinationDenied, detail, proxyError: "destination_ip_prohibited")
    }

    /// The problem that the client gets whatever answers in the place of origins; nil if it gets none, or if that is not known
    /// by the head alone.
    package var refusal: Problem? {
        if case .refuse(let problem) = self.step { return problem }
        let rules = self.decision?.route?.configuration.simulation ?? self.policy.configuration.simulation.unrouted
        return rules.isEmpty ? self.ownDestination : nil
    }
}

extension Policy {
    /// True if connections to an address end at a listener of the configuration, or at its admin endpoint.
    fileprivate func listens(at address: Authority) -> Bool {
        (self.configuration.listen + [self.configuration.admin.place].compactMap(\.self)).contains {
            $0.isReached(by: address)
        }
    }
}
