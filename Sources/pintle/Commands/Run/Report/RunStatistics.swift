// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit

/// Counts exchanges by their records. The counts are always exact; hosts, findings and exchanges are only stored up to a
/// limit.
struct RunStatistics: Sendable, Equatable {
    /// The maximum numbers of stored entries.
    struct Limits: Sendable, Equatable {
        var hosts = 1000
        var findings = 1000
    }

    struct Counts: Sendable, Equatable {
        var requests = 0
        var tunnels = 0
        var denied = 0
        /// The number of exchanges that a rule about destinations would have denied, but only reports.
        var wouldDeny = 0
        /// The number of exchanges with a violation, including violations that are only reported.
        var violations = 0
        /// The number of exchanges that had no proper response for another reason.
        var failed = 0
        /// The number of exchanges of programs that did not ask the proxy, and were captured.
        var captured = 0
        var bytesUp = 0
        var bytesDown = 0
        /// The numbers of answers that did not come from an origin, or were changed by a fault.
        var simulated: [Simulation: Int] = [:]
    }

    struct Host: Sendable, Equatable {
        let name: String
        var counts = Counts()
        /// The kinds of proof that were observed for the host.
        var assurances: Set<Assurance> = []
        /// The names of the trust policies that applied.
        var trust: Set<String> = []
    }

    /// The degree to which the identity of a destination was proved.
    enum Assurance: String, Sendable, Comparable, CaseIterable {
        case pinMismatch = "pin mismatch"
        case invalid = "not valid"
        case clear = "in clear"
        case unverified = "not verified"
        case verified
        case probed
        case observed
        case pinned

        static func < (left: Assurance, right: Assurance) -> Bool {
            let order = Self.allCases
            return order.firstIndex(of: left) ?? 0 < order.firstIndex(of: right) ?? 0
        }
    }

    struct Finding: Sendable, Equatable {
        var what: RunFinding
        var count: Int
        var firstAt: Timestamp
    }

    let limits: Limits
    private(set) var totals = Counts()
    /// The hosts, in the order in which they first occurred.
    private(set) var hosts: [Host] = []
    /// The number of exchanges with hosts that are not stored.
    private(set) var otherHosts = 0
    /// The findings, in the order in which they first occurred.
    private(set) var findings: [Finding] = []
    /// A credential and a host that it went to.
    struct Delivery: Hashable, Comparable {
        let credential: String
        let host: String

        static func < (left: Delivery, right: Delivery) -> Bool {
            (left.credential, left.host) < (right.credential, right.host)
        }
    }

    /// The numbers of requests with credentials, at most ``Limits/hosts`` of them.
    private(set) var deliveries: [Delivery: Int] = [:]
    /// The number of findings that are not stored.
    private(set) var otherFindings = 0
    /// The programs that were captured, as far as they were found; each once, and at most ``Limits/hosts``.
    private(set) var capturedPrograms: Set<String> = []
    private var hostPlaces: [String: Int] = [:]
    private var findingPlaces: [RunFinding: Int] = [:]
    private let redaction: Redaction

    init(redaction: Redaction, limits: Limits = Limits()) {
        self.redaction = redaction
        self.limits = limits
    }

    /// The number of exchanges.
    var count: Int { self.totals.requests + self.totals.tunnels }

    /// The maximum length of a stored text from servers or clients.
    private static let longest = 2000

    mutating func add(_ record: ExchangeRecord) {
        self.totals.add(record)
        let host = record.host ?? "-"
        if let place = self.place(of: host) {
            self.hosts[place].counts.add(record)
            if let assurance = record.runAssurance { self.hosts[place].assurances.insert(assurance) }
            if let trust = record.trust { self.hosts[place].trust.insert(trust) }
        } else {
            self.otherHosts += 1
        }
        if record.isCaptured, let program = record.process?.name, self.capturedPrograms.count < self.limits.hosts {
            self.capturedPrograms.insert(program)
        }
        for name in record.credentials {
            let delivery = Delivery(credential: name, host: host)
            guard self.deliveries[delivery] != nil || self.deliveries.count < self.limits.hosts else { continue }
            self.deliveries[delivery, default: 0] += 1
        }
        for rule in record.brokenRules { self.add(rule, record, host) }
    }

    /// Counts a name that the policy does not let programs look up, once however often they ask.
    mutating func add(deniedName name: String, because reason: String, at time: Timestamp) {
        let what = RunFinding(
            rule: .nameDenied, method: "lookup", url: name, host: name, decidedBy: reason,
            reason: "\(name) is denied by \(reason)")
        if let place = self.findingPlaces[what] {
            self.findings[place].count += 1
            return
        }
        self.totals.denied += 1
        if let place = self.place(of: name) { self.hosts[place].counts.denied += 1 } else { self.otherHosts += 1 }
        self.store(what, at: time)
    }

    private mutating func place(of host: String) -> Int? {
        if let place = self.hostPlaces[host] { return place }
        guard self.hosts.count < self.limits.hosts else { return nil }
        self.hosts.append(Host(name: String(host.prefix(Self.longest))))
        self.hostPlaces[host] = self.hosts.count - 1
        return self.hosts.count - 1
    }

    private mutating func add(_ rule: RunRule, _ record: ExchangeRecord, _ host: String) {
        let redacted = self.redacted(record)
        let what = RunFinding(
            rule: rule, method: redacted.method ?? "-", url: redacted.url ?? host, host: host, route: record.route,
            trust: record.trust, decidedBy: record.rule, reason: redacted.error ?? rule.summary, status: record.status)
        if let place = self.findingPlaces[what] {
            self.findings[place].count += 1
        } else {
            self.store(what, at: record.time)
        }
    }

    private mutating func store(_ what: RunFinding, at time: Timestamp) {
        if self.findings.count < self.limits.findings {
            self.findingPlaces[what] = self.findings.count
            self.findings.append(Finding(what: what, count: 1, firstAt: time))
        } else {
            self.otherFindings += 1
        }
    }

    private func redacted(_ record: ExchangeRecord) -> ExchangeRecord {
        var record = record
        record.url = record.url.map { String(self.redaction.url($0).prefix(Self.longest)) }
        record.error = record.error.map { String(self.redaction.text($0).prefix(Self.longest)) }
        return record
    }
}

extension RunStatistics.Counts {
    fileprivate mutating func add(_ record: ExchangeRecord) {
        // The CONNECT of an intercepted tunnel counts as a tunnel too; the requests inside have their own records.
        if !record.isTunnel, record.method != "CONNECT" {
            self.requests += 1
        } else if !record.continuesTunnel {
            self.tunnels += 1
        }
        if record.decision == "deny" { self.denied += 1 }
        if record.decision == "would-deny" { self.wouldDeny += 1 }
        if !record.violations.isEmpty { self.violations += 1 }
        if record.hasFailed { self.failed += 1 }
        if record.isCaptured { self.captured += 1 }
        if let simulation = Simulation(record.source) { self.simulated[simulation, default: 0] += 1 }
        self.bytesUp += record.bytesIn ?? 0
        self.bytesDown += record.bytesOut ?? 0
    }
}

extension RunStatistics.Counts {
    /// `12 of 40 answers were recordings, 3 were mocks`; nil without any.
    var simulationWords: String? {
        var words: [String] = []
        for kind in Simulation.allCases {
            guard let count = self.simulated[kind] else { continue }
            let whole = words.isEmpty ? " of \(ReportText.count(self.requests, "answer"))" : ""
            words.append("\(count)\(whole) \(count == 1 ? "was a \(kind.rawValue)" : "were \(kind.rawValue)s")")
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

extension RunStatistics {
    /// The credentials that requests have got, in words: `credential github: 3 requests to api.github.com:443`.
    var deliveryWords: [String] {
        self.deliveries.sorted { $0.key < $1.key }.map { delivery, count in
            "credential \(delivery.credential): \(ReportText.count(count, "request")) to \(delivery.host)"
        }
    }
}

extension ExchangeRecord {
    var isTunnel: Bool { self.mode == "tunnel" }

    /// True if there was no proper response, and no rule is the reason.
    fileprivate var hasFailed: Bool { (self.decision == "error" || self.isBrokenOff) && self.violations.isEmpty }

    /// The violated rules, each once.
    fileprivate var brokenRules: [RunRule] {
        // The misuse of a credential is the more telling name for the same denial.
        let isMisuse = self.violations.contains(.credentialMisuse)
        var rules: [RunRule] = self.decision == "deny" && !isMisuse ? [.denied] : []
        if self.hasFailed { rules.append(.failed) }
        for rule in self.violations.map(RunRule.init) where !rules.contains(rule) { rules.append(rule) }
        return rules
    }

    /// The proof of the destination's identity; nil if there was none to judge.
    fileprivate var runAssurance: RunStatistics.Assurance? {
        if self.violations.contains(.pinMismatch) { return .pinMismatch }
        if self.violations.contains(.certificateInvalid) { return .invalid }
        if self.address == nil, self.upstreamStatus == nil, !self.isTunnel { return nil }
        guard self.hasPassed || self.upstreamStatus != nil else { return nil }
        if self.pin != nil { return .pinned }
        if self.isTunnel {
            return self.assurance.map { $0 == "observed" ? .observed : .probed } ?? .unverified
        }
        return self.tls == nil ? .clear : .verified
    }
}
