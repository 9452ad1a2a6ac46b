// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Findings about credentials that no request can get.
extension Lint {
    /// Hosts of credentials that another trust policy judges.
    var unjudgedCredentials: [LintFinding] {
        // A request may match a route that names the policy.
        let named = Set(self.configuration.routes.compactMap { $0.trust?.value })
        return self.configuration.credentials.filter { !named.contains($0.trust.value) }.flatMap { credential in
            credential.grants.enumerated().flatMap { number, grant in
                grant.hosts.compactMap { host -> LintFinding? in
                    guard let other = self.judge(of: host, insteadOf: credential.trust.value) else { return nil }
                    return self.warning(
                        credential.trust.position, "credentials.\(credential.name).for[\(number)]",
                        "\(host) is judged by \(other), and the credential needs \(credential.trust.value): each "
                            + "request there with it is refused; name the host in trust.\(credential.trust.value).hosts"
                    )
                }
            }
        }
    }

    /// The reason for another trust policy without a route, such as `trust.default`; nil if it is the named one, or depends on the
    /// request.
    private func judge(of host: HostPattern, insteadOf trust: String) -> String? {
        guard case .exact(let name) = host.host, let authority = Authority(name, defaultPort: host.port ?? 443) else {
            return nil
        }
        let choice = self.policy.trust.choose(for: authority, route: nil)
        let isNamed = choice.name == trust || choice.index == nil && trust == TrustConfiguration.defaultName
        return isNamed ? nil : choice.reason
    }
}
