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
    let target: RequestTarget
    /// Empty, unless a sink wanted them.
    let requestFields: Fields
    let responseFields: Fields

    /// The most keys of a chain in a log line; a peer may send hundreds of certificates.
    private static let longestChain = 16

    init(_ end: borrowing ExchangeEnd) {
        self.facts = EndedFacts(end)
        (self.target, self.requestFields) = (end.report.request.head.target, end.report.request.head.fields)
        self.responseFields = end.report.facts.responseFields
    }

    init(_ facts: EndedFacts, target: RequestTarget, requestFields: Fields, responseFields: Fields) {
        (self.facts, self.target) = (facts, target)
        (self.requestFields, self.responseFields) = (requestFields, responseFields)
    }

    /// Nil if none were kept.
    var bodies: CapturedBodies? { self.facts.extras?.bodies }

    /// The exchange with its record.
    var observed: ObservedExchange {
        ObservedExchange(
            record: self.record, target: self.target, isComplete: self.facts.outcome == .completed,
            verdict: self.facts.verdict, hasNamelessHello: self.facts.hasNamelessHello,
            response: self.facts.extras?.response, requestFields: self.requestFields,
            responseFields: self.responseFields, bodies: self.bodies, trace: self.facts.extras?.trace,
            digest: self.facts.extras?.digest)
    }

    private var record: ExchangeRecord {
        let facts = self.facts
        let milliseconds = Int64(facts.duration / .milliseconds(1))
        var record = ExchangeRecord(
            time: Timestamp(milliseconds: facts.moment.milliseconds - milliseconds), id: facts.id.description)
        record.client = facts.client?.description
        (record.user, record.tag) = (facts.extras?.identity.user, facts.extras?.identity.tag)
        record.process = facts.process?.found
        (record.mode, record.continuesTunnel) = (facts.mode.rawValue, facts.continuesTunnel)
        record.isCaptured = facts.isCaptured
        (record.method, record.url) = (facts.method.isEmpty ? nil : facts.method, self.target.url)
        record.host = self.target.host ?? facts.extras?.gatewayHost
        record.address = facts.address.isEmpty ? nil : facts.address
        (record.route, record.trust) = (facts.isRouted ? facts.counters.name : nil, facts.trust)
        (record.rule, record.decision) = (facts.rule, self.decision)
        self.fillTrust(of: &record)
        (record.revision, record.assurance) = (facts.revision, facts.assurance?.rawValue)
        record.status = facts.status.map(Int.init)
        record.upstreamStatus = facts.upstreamStatus.map(Int.init)
        (record.bytesIn, record.bytesOut) = (facts.bytesIn, facts.bytesOut)
        record.duration = facts.duration
        if facts.hasTimes { self.fillTimes(of: &record) }
        record.tls = facts.tlsVersion.isEmpty ? nil : facts.tlsVersion
        record.http = facts.httpVersion.isEmpty ? nil : facts.httpVersion
        record.reused = facts.address.isEmpty ? nil : facts.reusedConnection
        if facts.retries > 0 { record.retries = Int(facts.retries) }
        if facts.redirects > 0 { record.redirects = Int(facts.redirects) }
        (record.cache, record.source) = (facts.cache?.rawValue, self.source)
        // Without TLS no byte of the request has left.
        if let extras = facts.extras, !facts.tlsVersion.isEmpty { record.credentials = extras.credentials }
        (record.violations, record.error) = (facts.violations, facts.extras?.error)
        return record
    }

    private func fillTrust(of record: inout ExchangeRecord) {
        // Nothing was verified.
        guard let verdict = self.facts.verdict else { return }
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
