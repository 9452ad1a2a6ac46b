// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintleMessage
package import PintleSession
package import PintleTrust

/// The way to the text of a list that another machine keeps.
package struct ListFetch: Sendable {
    /// The name of the list.
    package let name: String
    package let url: HTTPURL
    /// The age at which the text is asked for again.
    package let every: Duration
    /// The longest time for one attempt.
    package let timeout: Duration
    /// The conditions for the server's certificate.
    package let trust: SecurityPolicy
    /// The certificate for a server that asks for one.
    package let identity: ClientIdentity?
    /// The upstream proxy on the way; nil for none.
    package let proxy: ProxyServer?

    /// The URL for messages, without the values of its query: one of them may be a token.
    package var shownURL: String { Redaction.on.url(self.url.description) }
}

extension Policy {
    /// The lists that other machines keep, in the order of the configuration.
    package var listFetches: [ListFetch] {
        self.configuration.lists.compactMap { list in
            guard let remote = list.remote else { return nil }
            let authority = remote.url.authority
            let named = remote.trust.map { self.trust.index(of: $0.value) }
            let index = named ?? self.trust.choose(for: authority, route: nil).index
            return ListFetch(
                name: list.name, url: remote.url, every: remote.every, timeout: remote.timeout,
                trust: index.map { self.securityPolicies[$0] } ?? .default,
                identity: index.flatMap { self.clientIdentities[$0] }, proxy: self.proxy(to: authority))
        }
    }

    private func proxy(to authority: Authority) -> ProxyServer? {
        guard case .parent(let number) = self.parents.way(to: authority, .https) else { return nil }
        var server = self.parents.parents[number].server
        if let index = self.trust.choose(for: server.authority, route: nil).index {
            server.policy = self.securityPolicies[index]
        }
        return server
    }
}
