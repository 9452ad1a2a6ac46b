// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

// Requests that go by another proxy (`upstream_proxy`).
extension Exchange {
    /// The parent by which the request goes; nil where it goes to its origin.
    var parent: ProxyServer? {
        guard let decision, case .by(let link) = self.gate.way(decision.way) else { return nil }
        return link.server
    }

    /// The parent that has the request itself, and so may ask who it is from: that is for Pintle to know, not for the
    /// client. In a tunnel, and behind SOCKS, a parent has no say.
    var forwarder: ProxyServer? {
        guard self.decision?.scheme == .http, let parent, parent.scheme != .socks5 else { return nil }
        return parent
    }

    /// Whose name is looked up.
    var dialled: Authority? { self.parent?.authority ?? self.decision?.authority }
}

extension Problem {
    /// What is answered where a parent does not let requests of this proxy through.
    init(unadmittedBy parent: ProxyServer) {
        let remedy =
            parent.credential == nil
            ? "set upstream_proxy.username and password" : "it does not take the credential of the configuration"
        self.init(.connectFailure, "the proxy \(parent.authority) answered 407 to a request of this proxy; \(remedy)")
    }
}
