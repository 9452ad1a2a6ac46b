// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// The conditions under which requests may have credentials, of configurations that grant them differently.
struct CredentialGrants {
    private let grants: [CredentialConfiguration.Grant]
    /// The hosts of the grants, by the places of these.
    private let index: HostIndex

    init(_ policies: [Policy]) {
        let meanings = policies.map(\.configuration.credentialMeanings)
        // Equal grants release credentials to equal requests, so that their conditions tell nothing more.
        let areAlike = meanings.allSatisfy { $0 == meanings.first }
        let grants = areAlike ? [] : policies.flatMap { $0.configuration.credentials.flatMap(\.grants) }
        var index = HostIndex()
        for (number, grant) in grants.enumerated() { for host in grant.hosts { index.insert(host, number: number) } }
        (self.grants, self.index) = (grants, index)
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
        let all = Set(origins.flatMap { self.index.all($0) }).sorted().map { self.grants[$0] }
        let changesPaths = upstreams.contains { $0.stripPrefix != nil || ($0.upstream?.basePath.count ?? 0) > 1 }
        return (all, !changesPaths || all.allSatisfy(\.paths.isEmpty))
    }
}
