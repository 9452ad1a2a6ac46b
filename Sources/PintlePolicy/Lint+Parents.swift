// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

// Findings about requests through an upstream proxy.
extension Lint {
    /// Notes the upstream proxies for requests, and the destinations that are reached directly.
    var parentNotes: [LintFinding] {
        guard let upstream = self.configuration.upstreamProxy else { return [] }
        func note(_ message: String) -> LintFinding {
            LintFinding(severity: .note, position: upstream.position, path: "upstream_proxy", message: message)
        }
        guard !self.policy.parents.parents.isEmpty else {
            return [note("the environment names no proxy; everything goes to its origin")]
        }
        func way(_ parent: UpstreamProxyConfiguration.Parent?) -> String {
            parent.map { "by \($0.url) of \($0.source)" } ?? "to their origins"
        }
        let ways =
            self.policy.parents.parents.count == 1 && upstream.http != nil && upstream.https != nil
            ? "requests and tunnels go \(way(upstream.http))"
            : "http requests go \(way(upstream.http)), https requests and tunnels \(way(upstream.https))"
        let exceptions = upstream.exceptions.descriptions
        let rest = exceptions.isEmpty ? "" : "; to their origins: \(exceptions.joined(separator: ", "))"
        return [note(ways + rest)]
    }

    /// Warns of rules about addresses: names that an upstream proxy resolves have no address here.
    var unjudgedNames: [LintFinding] {
        guard let upstream = self.configuration.upstreamProxy, !self.policy.parents.parents.isEmpty,
            self.policy.destinations.judgesAddresses
        else { return [] }
        return [
            LintFinding(
                severity: .warning, position: upstream.position, path: "upstream_proxy",
                message: "the parent resolves names, so the rules of destinations about networks and private addresses "
                    + "are not applied to what names resolve to; have the parent apply them")
        ]
    }
}
