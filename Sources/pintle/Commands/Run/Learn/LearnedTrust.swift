// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePins
internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// The section `trust` of a learnt configuration, with one entry for all hosts whose chains have the same end.
struct LearnedTrust {
    /// A host in the form of the configuration.
    typealias Named = (pattern: String, authority: Authority, host: LearnedHost)

    private struct Kind: Hashable {
        let ends: Set<String>
        let policy: String?
    }

    /// The policies that applied during the run.
    let policies: [TrustConfiguration]
    /// Converts the paths of files.
    let place: LearnedPath

    /// Returns the section with its name first; empty if no host needs an entry.
    func lines(for hosts: [Named]) -> [String] {
        var kinds: [Kind] = []
        var members: [Kind: [Named]] = [:]
        for host in hosts where host.host.needsTrust {
            let ends = host.host.anchors.map { "\($0.position.rawValue) \($0.pin)" }
            let kind = Kind(ends: Set(ends), policy: host.host.trust)
            if members[kind] == nil { kinds.append(kind) }
            members[kind, default: []].append(host)
        }
        var names = LearnedNames(reserving: ["system", TrustConfiguration.defaultName])
        let lines = kinds.flatMap { kind in
            self.entry(for: members[kind] ?? [], self.policies.first { $0.name == kind.policy }, &names)
        }
        return lines.isEmpty ? [] : ["trust:"] + lines
    }

    private func entry(
        for hosts: [Named], _ policy: TrustConfiguration?, _ names: inout LearnedNames
    ) -> [String] {
        guard let first = hosts.first else { return [] }
        var lines = [
            "  \(names.name([first.authority.host]).yamlQuoted):",
            "    hosts: [\(hosts.map(\.pattern.yamlQuoted).joined(separator: ", "))]",
        ]
        if let policy, policy.pinning != .none {
            lines += self.pins(of: policy)
        } else if first.host.anchors.isEmpty {
            lines.append("    # None of them has shown a chain that holds: nothing is pinned.")
        } else {
            lines += Self.pins(of: first)
        }
        return lines + (policy.map(self.carried) ?? [])
    }

    private static func pins(of first: Named) -> [String] {
        let anchors = first.host.anchors.sorted { $0.pin < $1.pin }
        let positions = Set(anchors.map(\.position.rawValue))
        var lines = [
            "    pinning: public_key", "    match: \(positions.count == 1 ? positions.first ?? "any" : "any")",
            "    pins:",
        ]
        lines += anchors.map { "      - \($0.pin.yamlQuoted)  # \($0.position.rawValue): \($0.label)" }
        if anchors.count == 1 {
            lines += [
                "      # No backup: when this key is no longer above the server's, nothing gets through. Before that, add the",
                "      # pin of another authority that you would move to. `pintle pins show` shows the chain of a server, and",
                "      # `pintle pins lint` what is wrong with pins.",
            ]
        }
        // Only for the first host: other hosts may have other certificates below the anchor.
        lines += anchors.first.map { $0.others.map { "      # Below it, at \(first.pattern): \($0)" } } ?? []
        return lines
    }

    // MARK: Policies of the run

    /// Returns the pins that the configuration of the run already had.
    private func pins(of policy: TrustConfiguration) -> [String] {
        var lines = ["    pinning: \(policy.pinning.rawValue)"]
        if !policy.pins.isEmpty { lines.append("    pins: \(Self.list(policy.pins.map(\.value)))") }
        if !policy.certificates.isEmpty { lines.append("    certificates: \(self.paths(policy.certificates))") }
        if policy.match != .any { lines.append("    match: \(policy.match.rawValue)") }
        if let expires = policy.expires {
            lines += ["    expires: \("\(expires)".yamlQuoted)", "    on_expiry: \(policy.onExpiry.rawValue)"]
        }
        return lines
    }

    /// Returns the roots that decided which chains were valid, and similar settings.
    private func carried(from policy: TrustConfiguration) -> [String] {
        var lines: [String] = []
        if case .files(let files) = policy.roots { lines.append("    roots: \(self.paths(files))") }
        if !policy.extraRoots.isEmpty { lines.append("    extra_roots: \(self.paths(policy.extraRoots))") }
        if !policy.revocationLists.isEmpty { lines.append("    crl_files: \(self.paths(policy.revocationLists))") }
        if policy.allowInvalidCertificates { lines.append("    allow_invalid_certificates: true") }
        if !policy.validatesDomainName { lines.append("    validates_domain_name: false") }
        if policy.allowCommonName { lines.append("    allow_common_name: true") }
        if policy.form == .strict { lines.append("    form: strict") }
        if policy.stapling != .off { lines.append("    ocsp_stapling: \(policy.stapling.rawValue)") }
        if policy.enforcement == .report { lines.append("    enforcement: report") }
        if let minimum = policy.minTLS { lines.append("    min_tls: \(minimum.rawValue.yamlQuoted)") }
        if let identity = policy.clientCertificate {
            let key = identity.key.map { ", key: \(self.path($0))" } ?? ""
            lines.append("    client_certificate: {certificate: \(self.path(identity.certificate))\(key)}")
            if identity.password != nil {
                lines.append("    # Its key is encrypted: add password: \"env:NAME\" to the line above.")
            }
        }
        return lines.isEmpty ? [] : ["    # As in the policy \(policy.name) of the run:"] + lines
    }

    private static func list(_ texts: [String]) -> String {
        "[\(texts.map(\.yamlQuoted).joined(separator: ", "))]"
    }

    private func paths(_ files: [Located<String>]) -> String {
        "[\(files.map(self.path).joined(separator: ", "))]"
    }

    private func path(_ file: Located<String>) -> String { self.place.spelled(file.value).yamlQuoted }
}
