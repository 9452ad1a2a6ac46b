// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// The facts that an exchange has in common with many others: those of its connections, of its route and of its rules.
final class CommonFacts: Sendable {
    let client: Client?
    let process: ClientProcess?
    /// The counters of the route; those of no route if none matched.
    let counters: RouteCounters
    let isRouted: Bool
    let verdict: Verdict?
    let violations: [ViolationKind]
    let trust: String?
    /// The rule that decided.
    let rule: String?
    /// The revision of the configuration that the exchange was treated by.
    let revision: String?
    /// Tells that configuration from others; its further parts need not be kept for it.
    private let rules: RuleCounters?
    /// Empty if no connection was made.
    let address: String
    let tlsVersion: String
    let httpVersion: String

    init(
        client: Client?, process: ClientProcess?, counters: RouteCounters, isRouted: Bool, verdict: Verdict?,
        violations: [ViolationKind], trust: String?, rule: String?, revision: String?, address: String,
        tlsVersion: String, httpVersion: String, rules: RuleCounters? = nil
    ) {
        (self.client, self.process, self.counters, self.isRouted) = (client, process, counters, isRouted)
        (self.verdict, self.violations, self.trust) = (verdict, violations, trust)
        (self.rule, self.revision, self.address) = (rule, revision, address)
        (self.tlsVersion, self.httpVersion, self.rules) = (tlsVersion, httpVersion, rules)
    }

    convenience init(_ end: borrowing ExchangeEnd) {
        let report = end.report
        self.init(
            client: report.client, process: report.process, counters: report.counters,
            isRouted: report.route != nil, verdict: report.verdict, violations: end.violations,
            trust: report.trust, rule: report.rule?.description, revision: end.configuration?.revision,
            address: report.metrics.address, tlsVersion: report.metrics.tlsVersion,
            httpVersion: report.metrics.httpVersion, rules: end.configuration?.ruleCounters)
    }

    /// True if these are the facts of the exchange. Verdicts and processes are compared by identity.
    ///
    /// Asked for each exchange; so nothing is copied for it.
    func hold(for end: borrowing ExchangeEnd) -> Bool {
        let report = end.report
        return self.counters === report.counters && self.process === report.process
            && self.rules === end.configuration?.ruleCounters && Verdict.areSame(self.verdict, report.verdict)
            && self.isRouted == (report.route != nil) && self.client == report.client
            && self.address == report.metrics.address && self.rule == report.rule?.description
            && self.trust == report.trust && self.tlsVersion == report.metrics.tlsVersion
            && self.httpVersion == report.metrics.httpVersion && self.violations == end.violations
    }

    /// A number that mostly differs for other facts.
    static func hash(of end: borrowing ExchangeEnd) -> UInt {
        var hash = UInt(bitPattern: ObjectIdentifier(end.report.counters))
        if let process = end.report.process { hash ^= UInt(bitPattern: ObjectIdentifier(process)) &* 31 }
        hash ^= UInt(end.report.metrics.address.utf8.count) << 5
        // The lowest bits of an object's address are zero.
        return hash >> 5
    }

    /// The bytes in memory, about.
    static let size = 384
}
