// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

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
    /// The counters of its rules. They tell that configuration from others; its further parts need not be kept for it.
    private let rules: RuleCounters?
    /// The places in these counters of the rules that have decided about the client and the destination; nil if none have.
    private let places: (client: Int?, destination: Int?)
    /// Empty if no connection was made.
    let address: String
    let tlsVersion: String
    let httpVersion: String

    init(
        client: Client?, process: ClientProcess?, counters: RouteCounters, isRouted: Bool, verdict: Verdict?,
        violations: [ViolationKind], trust: String?, rule: DecidingRule?, revision: String?, address: String,
        tlsVersion: String, httpVersion: String, rules: RuleCounters? = nil
    ) {
        (self.client, self.process, self.counters, self.isRouted) = (client, process, counters, isRouted)
        (self.verdict, self.violations, self.trust) = (verdict, violations, trust)
        (self.rule, self.revision, self.address) = (rule?.description, revision, address)
        (self.tlsVersion, self.httpVersion, self.rules) = (tlsVersion, httpVersion, rules)
        var places: (client: Int?, destination: Int?)
        if case .address(let address) = client { places.client = rules?.place(client: address) }
        if let rule { places.destination = rules?.place(of: rule) }
        self.places = places
    }

    /// - Parameter configuration: the one that the exchange was treated by; nil if it is not told.
    convenience init(_ report: ExchangeReport, in configuration: ActiveConfiguration?) {
        self.init(
            client: report.client, process: report.process, counters: report.counters,
            isRouted: report.route != nil, verdict: report.verdict, violations: report.violations,
            trust: report.trust, rule: report.rule, revision: configuration?.revision,
            address: report.metrics.address, tlsVersion: report.metrics.tlsVersion,
            httpVersion: report.metrics.httpVersion, rules: configuration?.ruleCounters)
    }

    /// True if these are the facts of the exchange. Verdicts and processes are compared by identity.
    ///
    /// Asked for each exchange; so nothing is copied for it.
    func hold(for report: ExchangeReport, in configuration: ActiveConfiguration) -> Bool {
        self.counters === report.counters && self.process === report.process
            && self.rules === configuration.ruleCounters && Verdict.areSame(self.verdict, report.verdict)
            && self.isRouted == (report.route != nil) && self.client == report.client
            && self.address == report.metrics.address && self.rule == report.rule?.description
            && self.trust == report.trust && self.tlsVersion == report.metrics.tlsVersion
            && self.httpVersion == report.metrics.httpVersion && self.violations == report.violations
    }

    /// Counts an exchange with these facts, and the rules that have decided about it.
    func count(_ facts: EndedFacts, method: UnsafeRawBufferPointer, in tally: inout ExchangeMetrics.Tally) {
        if let place = self.places.client { self.rules?.count(at: place) }
        if let place = self.places.destination { self.rules?.count(at: place) }
        tally.count(
            self.counters, MethodLabel(method), status: facts.status, nanoseconds: facts.nanoseconds,
            end: facts.moment
        ) { facts.id.description }
        if let trust = self.decidingTrust { tally.countPins(of: trust.name, isMismatch: trust.isMismatch) }
    }

    /// The trust policy whose pins have decided; nil if none have: the policy has no pins, or nothing was verified.
    private var decidingTrust: (name: String, isMismatch: Bool)? {
        let isMismatch = self.violations.contains(.pinMismatch)
        guard let trust, isMismatch || self.verdict?.matchedPin != nil else { return nil }
        return (trust, isMismatch)
    }

    /// A number that mostly differs for other facts.
    static func hash(of report: ExchangeReport) -> UInt {
        var hash = UInt(bitPattern: ObjectIdentifier(report.counters))
        if let process = report.process { hash ^= UInt(bitPattern: ObjectIdentifier(process)) &* 31 }
        hash ^= UInt(report.metrics.address.utf8.count) << 5
        // The lowest bits of an object's address are zero.
        return hash >> 5
    }

    /// The bytes in memory, about.
    static let size = 384
}
