// SPDX-License-Identifier: Apache-2.0

internal import PintlePins
internal import PintlePolicy

extension SmokescreenACL {
    /// Networks that Smokescreen refuses, whatever name leads to them. Pintle's `private_addresses` exempts the hosts of `allow`, so
    /// they stand in `deny`. IPv6 outside of 2000::/3 is no global unicast.
    private static let privateNetworks = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
        "224.0.0.0/3", "::/3", "2001::/32", "2002::/16", "4000::/2", "8000::/1",
    ]

    /// Converts the rules of one service.
    ///
    /// Smokescreen asks the service's own domains first, then the global denials, then the global permissions, then the
    /// action. Pintle asks denials first. So a denial that a service's domain covers is left out, and one that covers a
    /// service's domain denies that, too.
    ///
    /// - Parameter service: its name; nil for `default`.
    /// - Throws: if there is no such service.
    func converted(service: String?) throws(ConversionError) -> Conversion {
        let rules = try self.rules(of: service)
        var result = Conversion(policy: ConvertedPolicy())
        result.policy.head = self.head(rules)
        result.remarks = self.ignored + rules.others
        let others = self.services.compactMap(\.name).filter { $0 != rules.name }
        if !others.isEmpty {
            result.note(
                .leftOut, nil,
                "services \(others.joined(separator: ", ")): Pintle has one set of rules for all of its clients; convert each "
                    + "with --service, and give it a proxy of its own")
        }
        switch rules.action {
        case .open:
            result.policy.fallback = .init("allow", "action: open, line \(rules.line)")
            self.deny(self.globallyDenied, but: rules.allowed, &result)
        case .enforce:
            result.policy.fallback = .init("deny", "action: enforce, line \(rules.line)")
            self.allow(rules, &result)
        case .report:
            result.policy.isReported = true
            result.policy.fallback = .init("deny", "action: report, line \(rules.line): reported, and passes")
            self.allow(rules, &result)
            result.note(
                .weaker, rules.line,
                "action report: Smokescreen still refuses private addresses\(self.globallyDenied.isEmpty ? "" : " and global_deny_list"), "
                    + "and Pintle's enforcement: report only reports them; to refuse them, write default: allow in place of "
                    + "enforcement: report, and nothing is reported")
        }
        return result
    }

    private func rules(of service: String?) throws(ConversionError) -> Rules {
        if let service {
            if let rules = self.services.first(where: { $0.name == service }) { return rules }
            let names = self.services.compactMap(\.name).joined(separator: ", ")
            throw ConversionError(
                .usage, "--service: \(self.file) has no service \(service.debugDescription); it has \(names)")
        }
        if let fallback { return fallback }
        let names = self.services.compactMap(\.name).joined(separator: ", ")
        throw ConversionError(.usage, "\(self.file) has no rules for default; name a service with --service: \(names)")
    }

    private func head(_ rules: Rules) -> [String] {
        let name = rules.name.map { "the service \($0.yamlQuoted)" } ?? "services without rules of their own (default)"
        let project = rules.project.map { ", project \($0.yamlQuoted)" } ?? ""
        return [
            "The rules of Smokescreen for \(name)\(project).",
            "They hold for every client of this proxy: clients have no roles here.",
        ]
    }

    /// Allows the service's domains and the global ones. A denial is needed only within a global permission: everything
    /// else is denied anyway.
    private func allow(_ rules: Rules, _ result: inout Conversion) {
        result.policy.allow =
            rules.allowed.map { .init($0.pattern.description) }
            + self.globallyAllowed.map { .init($0.pattern.description, "global_allow_list, line \($0.line)") }
        let permissions = HostTree(self.globallyAllowed.map(\.pattern))
        let needed = self.globallyDenied.filter { permissions.overlaps($0.pattern) }
        self.deny(needed, but: rules.allowed, &result)
        if !result.policy.allow.isEmpty {
            let comment = "refused to every name, as Smokescreen does"
            result.policy.deny += Self.privateNetworks.map { .init($0, $0 == Self.privateNetworks[0] ? comment : nil) }
        }
    }

    /// Denies domains, each but those that a domain of the service covers. A domain of the service that is denied is told once,
    /// with the first denial.
    private func deny(_ denied: [Domain], but allowed: [Domain], _ result: inout Conversion) {
        var permissions = HostTree(allowed.map(\.pattern))
        var isTold: Set<Int> = []
        for domain in denied {
            if permissions.covers(domain.pattern) { continue }
            result.policy.deny.append(.init(domain.pattern.description, "global_deny_list, line \(domain.line)"))
            for place in permissions.takePlaces(within: domain.pattern) where isTold.insert(place).inserted {
                result.note(
                    .stricter, allowed[place].line,
                    "allowed_domains: \(allowed[place].pattern) is denied by \(domain.pattern) of global_deny_list (line "
                        + "\(domain.line)), since denials come first in Pintle")
            }
        }
    }
}

/// Patterns without ports, found by the names that they have in common with another: a list may have a hundred thousand.
private struct HostTree {
    private let hosts: Set<HostPattern.Host>
    /// The places of the patterns within each host and suffix.
    private var within: [HostPattern.Host: [Int]] = [:]

    init(_ patterns: [HostPattern]) {
        self.hosts = Set(patterns.map(\.host))
        for (place, pattern) in patterns.enumerated() {
            for host in pattern.selfAndSuffixes { self.within[host, default: []].append(place) }
        }
    }

    /// True if every name that matches `other` matches a pattern.
    func covers(_ other: HostPattern) -> Bool { other.selfAndSuffixes.contains(where: self.hosts.contains) }

    /// The places of the patterns that `other` covers; none for a host that was asked for before.
    mutating func takePlaces(within other: HostPattern) -> [Int] { self.within.removeValue(forKey: other.host) ?? [] }

    /// True if a name may match a pattern and `other`. Suffixes contain each other, or have nothing in common.
    func overlaps(_ other: HostPattern) -> Bool { self.covers(other) || self.within[other.host] != nil }
}
