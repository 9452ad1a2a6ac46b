// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// The conditions under which requests may have credentials, of configurations that grant them differently.
struct CredentialGrants {
    private let grants: [CredentialConfiguration.Grant]

    init(_ policies: [Policy]) {
        let meanings = policies.map(\.configuration.credentialMeanings)
        // Equal grants release credentials to equal requests, so that their conditions tell nothing more.
        let areAlike = meanings.allSatisfy { $0 == meanings.first }
        self.grants = areAlike ? [] : policies.flatMap { $0.configuration.credentials.flatMap(\.grants) }
    }

    /// The hosts that grants name.
    var hosts: [HostPattern] { self.grants.flatMap(\.hosts) }

    /// The grants for requests to one host, also for those that a route sends elsewhere.
    ///
    /// They are not exhausted if a route changes the path: paths of grants are those that the origin gets.
    func grants(
        for authority: Authority, through routes: [RouteConfiguration]
    ) -> (all: [CredentialConfiguration.Grant], areExhausted: Bool) {
        let upstreams = routes.filter { $0.upstream != nil }
        let origins = [authority] + upstreams.compactMap { $0.upstream?.authority }
        let all = self.grants.filter { grant in
            grant.hosts.contains { host in origins.contains { host.matches($0) } }
        }
        let changesPaths = upstreams.contains { $0.stripPrefix != nil || ($0.upstream?.basePath.count ?? 0) > 1 }
        return (all, !changesPaths || all.allSatisfy(\.paths.isEmpty))
    }
}
