// SPDX-License-Identifier: Apache-2.0

private import PintleMessage
private import PintleTrust

/// Reads `trust` and refuses policies that contradict themselves.
struct TrustReader {
    /// Reads the trust policies, in the order of the files.
    ///
    /// - Parameter maps: the `trust` of the main file and of the included files.
    static func read(_ maps: [StrictNode]) -> [TrustConfiguration] {
        let entries = maps.flatMap { $0.entries() ?? [] }
        var policies: [TrustConfiguration] = []
        var places: [String: SourcePosition] = [:]
        for entry in entries {
            let context = entry.value.context
            if let other = places[entry.key] {
                context.report(
                    "\(entry.key.excerpt) is the name of the trust policy at \(other.words) too",
                    path: entry.value.path, at: entry.position)
                context.noteFaulty(trust: entry.key)
                continue
            }
            places[entry.key] = entry.position
            let earlier = context.problems.count
            if let reason = Self.refusal(ofName: entry.key) {
                context.report(reason, path: entry.value.path, at: entry.position)
            }
            // An entry that is no map still has its name, so routes that use the name are not reported.
            let policy = entry.value.map(.trust).map { Self.readPolicy(entry, $0, after: earlier) }
            policies.append(policy ?? TrustConfiguration(name: entry.key, position: entry.position))
            if context.problems.count > earlier { context.noteFaulty(trust: entry.key) }
        }
        Self.checkOverlaps(policies, entries)
        return policies
    }

    /// Returns the reason to refuse a name, if any: names become metric labels and parts of paths in messages.
    private static func refusal(ofName name: String) -> String? {
        if name == "system" { return "the name system is taken: it is what applies when no trust policy does" }
        return Self.isName(name) ? nil : "a name has 1 to 64 letters, digits and -._"
    }

    /// True for a name that can be a label of metrics and a part of paths in messages.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(Self.isNameByte)
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || "-._".utf8.contains(byte)
    }

    /// - Parameter earlier: the number of problems before the entry.
    private static func readPolicy(_ entry: StrictEntry, _ map: StrictMap, after earlier: Int) -> TrustConfiguration {
        var policy = TrustConfiguration(name: entry.key, position: entry.position)
        map.read("hosts", into: &policy.hosts) { node in
            node.values { node in
                node.parsed { text throws(Malformed) in Located(try HostPattern(text), at: node.position) }
            }
        }
        map.read("pinning", into: &policy.pinning) { $0.choice() }
        map.read("pins", into: &policy.pins) { node in
            node.values { node in node.nonEmptyString().map { Located($0, at: node.position) } }
        }
        map.read("certificates", into: &policy.certificates, Self.readPaths)
        map.read("allow_invalid_certificates", into: &policy.allowInvalidCertificates) { $0.bool() }
        map.read("validates_domain_name", into: &policy.validatesDomainName) { $0.bool() }
        map.read("roots", into: &policy.roots) { node in
            if node.isScalar("system") { return .system }
            return Self.readPaths(node).map { .files($0) }
        }
        map.read("extra_roots", into: &policy.extraRoots, Self.readPaths)
        self.readChecks(&policy, map)
        map.read("client_certificate", into: &policy.clientCertificate) { node in
            node.map(.clientCertificate).flatMap(IdentityFiles.read).map { .some($0) }
        }
        map.read("enforcement", into: &policy.enforcement) { node in
            let enforcement: Enforcement? = node.choice()
            return enforcement.map { .some($0) }
        }
        // Values that were not read right would seem to contradict the rest.
        if entry.value.context.problems.count == earlier { Self.checkContradictions(policy, map) }
        return policy
    }

    private static func readChecks(_ policy: inout TrustConfiguration, _ map: StrictMap) {
        map.read("match", into: &policy.match) { $0.choice() }
        map.read("form", into: &policy.form) { $0.choice() }
        map.read("allow_common_name", into: &policy.allowCommonName) { $0.bool() }
        map.read("min_tls", into: &policy.minTLS) { node in
            let version: TLSVersion? = node.choice()
            return version.map { .some($0) }
        }
        map.read("crl_files", into: &policy.revocationLists, Self.readPaths)
        map.read("ocsp_stapling", into: &policy.stapling) { $0.isOff ? .off : $0.choice() }
        map.read("expires", into: &policy.expires) { node in
            let moment: UnixTime? = node.parsed { text throws(Malformed) in
                guard let moment = UnixTime(iso8601: text) else {
                    throw Malformed("must be a date or a time, as in 2027-01-01 or 2027-01-01T12:00:00Z")
                }
                return moment
            }
            return moment.map { .some($0) }
        }
        map.read("on_expiry", into: &policy.onExpiry) { $0.choice() }
        map.read("warn_before_expiry", into: &policy.warnBeforeExpiry) { $0.duration(.zero ... .seconds(3650 * 86400)) }
    }

    private static func readPaths(_ node: StrictNode) -> [Located<String>]? {
        node.values { node in
            node.nonEmptyString().map { Located(node.resolve($0), at: node.position) }
        }
    }

    private static func checkContradictions(_ policy: TrustConfiguration, _ map: StrictMap) {
        if policy.expires == nil, let node = map["on_expiry"] ?? map["warn_before_expiry"] {
            node.report("is about the end of the pins, which never comes without expires; set expires as well")
        }
        if policy.allowCommonName, !policy.validatesDomainName {
            map["allow_common_name"]?.report(
                "is not looked at while validates_domain_name is false; remove one of them")
        }
        if policy.allowInvalidCertificates {
            let node = policy.stapling == .off ? nil : map["ocsp_stapling"]
            (map["crl_files"] ?? node)?.report(
                "is not looked at while allow_invalid_certificates is true; remove one of them")
        }
        let pinning = map["pinning"] ?? map.node
        switch policy.pinning {
        case .none:
            if let node = map["match"] ?? map["expires"] {
                node.report("is about pins, and pinning is none; set pinning: public_key or certificate")
            }
            if let node = map["pins"] ?? map["certificates"] {
                node.report("is not looked at while pinning is none; set pinning: public_key or certificate")
            }
            if policy.allowInvalidCertificates, policy.validatesDomainName {
                map["allow_invalid_certificates"]?.report(
                    "without pinning nothing would be checked but a name that anyone can write; pin a public_key or "
                        + "certificate, or set validates_domain_name: false as well")
            }
        case .publicKey:
            if policy.pins.isEmpty, policy.certificates.isEmpty {
                pinning.report("public_key refuses every origin without pins or certificates; name at least one")
            }
        case .certificate:
            if let node = map["pins"] {
                node.report("pins are digests of public keys; with pinning: certificate give certificates")
            }
            if policy.certificates.isEmpty {
                pinning.report("certificate refuses every origin without certificates; name at least one")
            }
        }
    }

    /// Refuses a pattern that two policies have, as only their order would decide between them.
    private static func checkOverlaps(_ policies: [TrustConfiguration], _ entries: [StrictEntry]) {
        var owners: [HostPattern.Key: String] = [:]
        for policy in policies {
            for (index, host) in policy.hosts.enumerated() {
                let owner = owners[host.value.key]
                owners[host.value.key] = owner ?? policy.name
                guard let owner, let context = entries.first?.value.context else { continue }
                let place = owner == policy.name ? "twice in this policy" : "in trust.\(owner).hosts too"
                context.noteFaulty(trust: policy.name)
                context.report(
                    "\"\(host.value)\" is \(place); a host has one trust policy",
                    path: "trust.\(policy.name).hosts[\(index)]", at: host.position)
            }
        }
    }
}

extension HostPattern {
    /// A key that is equal for two patterns that match the same, however they are spelled.
    fileprivate struct Key: Hashable {
        let host: Host
        let port: UInt16?
    }

    fileprivate var key: Key { Key(host: self.host, port: self.port) }
}
