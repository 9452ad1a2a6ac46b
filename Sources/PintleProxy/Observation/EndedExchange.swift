// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

/// An exchange that has ended, with all that its record is made of.
struct EndedExchange: Sendable {
    let facts: EndedFacts
    let common: CommonFacts
    /// Nil if there are none of these parts.
    let extras: EndedExtras?
    /// Empty if the client sent no request.
    let method: String
    let target: RequestTarget
    /// Nil, unless a sink wanted fields.
    private let heads: KeptHeads?

    /// The most keys of a chain in a log line; a peer may send hundreds of certificates.
    private static let longestChain = 16

    /// - Parameters:
    ///   - configuration: see ``CommonFacts``.
    ///   - hasFields: false if the header fields are not needed.
    init(
        _ report: ExchangeReport, _ end: ExchangeEnd, _ extras: EndedExtras?, in configuration: ActiveConfiguration?,
        hasFields: Bool = true
    ) {
        (self.facts, self.extras) = (EndedFacts(report, end), extras)
        self.common = CommonFacts(report, in: configuration)
        (self.method, self.target) = (report.request.head.method, report.request.head.target)
        self.heads = hasFields ? report.heads.map(KeptHeads.init) : nil
    }

    init(_ facts: EndedFacts, _ common: CommonFacts, _ extras: EndedExtras?, _ heads: KeptHeads) {
        (self.facts, self.common, self.extras) = (facts, common, extras)
        (self.method, self.target, self.heads) = (heads.method, heads.target, heads)
    }

    /// Nil if none were kept.
    var bodies: CapturedBodies? { self.extras?.bodies }

    /// The exchange with its record.
    var observed: ObservedExchange {
        ObservedExchange(
            record: self.record, target: self.target, isComplete: self.facts.outcome == .completed,
            verdict: self.common.verdict, hasNamelessHello: self.facts.hasNamelessHello,
            isOpaque: self.facts.isOpaque, response: self.extras?.response,
            requestFields: self.heads?.requestFields ?? Fields(),
            responseFields: self.heads?.responseFields ?? Fields(), bodies: self.bodies, trace: self.extras?.trace,
            digest: self.extras?.digest)
    }

    private var record: ExchangeRecord {
        let (facts, common) = (self.facts, self.common)
        let milliseconds = facts.nanoseconds / 1_000_000
        var record = ExchangeRecord(
            time: Timestamp(milliseconds: facts.moment.milliseconds - milliseconds), id: facts.id.description)
        record.client = common.client?.description
        (record.user, record.tag) = (self.extras?.identity.user, self.extras?.identity.tag)
        record.process = common.process?.found
        (record.mode, record.continuesTunnel) = (facts.mode.rawValue, facts.continuesTunnel)
        record.isCaptured = facts.isCaptured
        (record.method, record.url) = (self.method.isEmpty ? nil : self.method, self.target.url)
        record.host = self.target.host ?? self.extras?.gatewayHost
        record.address = common.address.isEmpty ? nil : common.address
        (record.route, record.trust) = (common.isRouted ? common.counters.name : nil, common.trust)
        (record.rule, record.decision) = (common.rule, self.decision)
        self.fillTrust(of: &record)
        (record.revision, record.assurance) = (common.revision, facts.assurance?.rawValue)
        record.status = facts.status.map(Int.init)
        record.upstreamStatus = facts.upstreamStatus.map(Int.init)
        (record.bytesIn, record.bytesOut) = (facts.bytesIn, facts.bytesOut)
        record.duration = .nanoseconds(facts.nanoseconds)
        if facts.hasTimes { self.fillTimes(of: &record) }
        record.tls = common.tlsVersion.isEmpty ? nil : common.tlsVersion
        record.clientHTTP = self.method.isEmpty ? nil : facts.version.text
        record.http = common.httpVersion.isEmpty ? nil : common.httpVersion
        record.reused = common.address.isEmpty ? nil : facts.reusedConnection
        if facts.retries > 0 { record.retries = Int(facts.retries) }
        if facts.redirects > 0 { record.redirects = Int(facts.redirects) }
        (record.cache, record.source) = (facts.cache?.rawValue, self.source)
        // Without TLS no byte of the request has left.
        if let extras = self.extras, !common.tlsVersion.isEmpty { record.credentials = extras.credentials }
        (record.violations, record.error) = (common.violations, self.extras?.error)
        record.isBrokenOff = self.isBrokenOff
        return record
    }

    /// True for an answer of an origin. Tunnels may end in any way, and simulated answers break off by choice.
    private var isBrokenOff: Bool {
        let facts = self.facts
        guard facts.outcome == .failed, facts.problem == nil, facts.simulation == nil else { return false }
        return facts.status != nil && facts.status != 101 && self.method != "CONNECT"
    }

    private func fillTrust(of record: inout ExchangeRecord) {
        // Nothing was verified.
        guard let verdict = self.common.verdict else { return }
        record.pin = verdict.matchedPin?.description
        for rule in verdict.form.map(\.rule.rawValue) where !record.form.contains(rule) { record.form.append(rule) }
        if verdict.reported?.code == .pinMismatch || verdict.error?.code == .pinMismatch {
            record.chain = verdict.chain.prefix(Self.longestChain).map(\.spkiPin.description)
            record.pin = record.chain.first
        }
    }

    private func fillTimes(of record: inout ExchangeRecord) {
        if !self.facts.reusedConnection {
            record.connect = self.facts.connect.duration
            record.tlsHandshake = self.facts.tls.duration.map { $0 - (record.connect ?? .zero) }
        }
        record.firstByte = self.facts.firstByte.duration
    }

    private var source: ExchangeRecord.Source? {
        let facts = self.facts
        // A fault may leave the client without a response.
        if let simulation = facts.simulation, facts.problem == nil { return simulation.source }
        if facts.status == nil || facts.problem != nil { return facts.status == nil ? nil : .pintle }
        if let cache = facts.cache, !cache.isFromOrigin { return .cache }
        return facts.upstreamStatus != nil || facts.mode == .tunnel ? .origin : .pintle
    }

    /// `allow`, or the decision of the problem in the response; `would-deny` if a report-only destination rule is broken.
    private var decision: String { self.facts.problem?.decision ?? (self.facts.wouldBeDenied ? "would-deny" : "allow") }
}
