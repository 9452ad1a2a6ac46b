// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleActivity
internal import PintleCache
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

/// An exchange that has ended, as its report left it.
///
/// Its record has a dozen texts that must be made, and most exchanges are only kept, or counted, until they are forgotten. So the
/// record is made for those who ask.
package final class EndedExchange: KeepableExchange {
    let id: ExchangeID
    let client: Client?
    let process: ClientProcess?
    let identity: ProxyIdentity
    let mode: ExchangeReport.Mode
    let continuesTunnel: Bool
    /// Without its fields, unless a sink wanted them.
    let request: RequestHead
    let gatewayHost: String?
    /// The time of the end.
    package let moment: Timestamp
    package let duration: Duration
    /// The counters of the route; those of no route if none matched.
    package let counters: RouteCounters
    private let isRouted: Bool
    package let trust: String?
    let rule: DecidingRule?
    /// The revision of the configuration that the exchange was treated by.
    let revision: String?
    let problem: Problem.Name?
    let wouldBeDenied: Bool
    let verdict: Verdict?
    let assurance: ExchangeReport.Assurance?
    /// The status sent to the client; nil without a response.
    package let status: UInt16?
    let upstreamStatus: UInt16?
    let bytesIn: Int
    let bytesOut: Int
    let metrics: TransferMetrics
    let redirects: Int
    let cache: CacheOutcome?
    /// The kind of answer, if it was not the origin's own.
    package let simulation: Simulation?
    package let violations: [ViolationKind]
    let error: String?
    let outcome: Outcome
    let hasNamelessHello: Bool
    let response: ObservedResponse?
    let responseFields: Fields
    /// Nil if none were kept.
    let bodies: CapturedBodies?
    private let trace: Trace?

    /// The place in a trace. It is behind a reference, so that kept exchanges take no room for it if traces are off.
    private final class Trace: Sendable {
        let trace: ExchangeTrace

        init(_ trace: ExchangeTrace) { self.trace = trace }
    }

    /// The most keys of a chain in a log line; a peer may send hundreds of certificates.
    private static let longestChain = 16

    init(
        _ report: ExchangeReport, _ outcome: Outcome, after duration: TimeAmount, _ facts: ExchangeReport.Facts,
        _ response: ObservedResponse?, _ bodies: CapturedBodies?, _ wouldBeDenied: Bool, _ revision: String?
    ) {
        (self.bodies, self.revision) = (bodies, revision)
        (self.id, self.client, self.process, self.identity) = (
            report.id, report.client, report.process, report.identity
        )
        (self.mode, self.continuesTunnel) = (report.mode, report.continuesTunnel)
        (self.request, self.gatewayHost) = (report.request.head, report.request.gatewayHost)
        (self.moment, self.duration) = (.now(), .nanoseconds(duration.nanoseconds))
        self.isRouted = facts.route != nil
        (self.counters, self.trust, self.rule) = (report.counters, report.trust, report.rule)
        (self.problem, self.wouldBeDenied) = (report.problem, wouldBeDenied)
        (self.verdict, self.assurance) = (facts.verdict, facts.assurance)
        (self.status, self.upstreamStatus) = (report.status, report.upstreamStatus)
        (self.bytesIn, self.bytesOut) = (report.bytesIn, report.bytesOut)
        (self.metrics, self.redirects, self.cache) = (report.metrics, facts.redirects, facts.cache)
        (self.violations, self.error, self.outcome) = (facts.violations, report.error, outcome)
        (self.hasNamelessHello, self.simulation) = (report.hasNamelessHello, report.simulation)
        (self.response, self.responseFields) = (response, facts.responseFields)
        self.trace = report.isTraced ? report.trace.map(Trace.init) : nil
    }

    /// The name of the route; nil if none matched.
    private var route: String? { self.isRouted ? self.counters.name : nil }
    /// The method; empty if the client sent no request.
    package var method: String { self.request.method }
    /// The id in problems and logs.
    package var name: String { self.id.description }
    /// True if a pin of the trust policy has matched.
    package var matchesPin: Bool { self.verdict?.matchedPin != nil }

    /// The bytes in memory, about: only these parts may be much longer than the others.
    package var size: Int {
        1408 + self.request.fields.storedByteCount + self.responseFields.storedByteCount
            + (self.request.target.path?.utf8.count ?? 0)
            + (self.error?.utf8.count ?? 0)
    }

    /// The exchange with its record.
    package var observed: ObservedExchange {
        ObservedExchange(
            record: self.record, target: self.request.target, isComplete: self.outcome == .completed,
            verdict: self.verdict, hasNamelessHello: self.hasNamelessHello, response: self.response,
            requestFields: self.request.fields, responseFields: self.responseFields, bodies: self.bodies,
            trace: self.trace?.trace)
    }

    private var record: ExchangeRecord {
        let milliseconds = Int64(self.duration / .milliseconds(1))
        var record = ExchangeRecord(
            time: Timestamp(milliseconds: self.moment.milliseconds - milliseconds), id: self.name)
        record.client = self.client?.description
        (record.user, record.tag, record.process) = (self.identity.user, self.identity.tag, self.process?.found)
        (record.mode, record.continuesTunnel) = (self.mode.rawValue, self.continuesTunnel)
        (record.method, record.url) = (self.method.isEmpty ? nil : self.method, self.request.target.url)
        record.host = self.request.target.host ?? self.gatewayHost
        record.address = self.metrics.address.isEmpty ? nil : self.metrics.address
        (record.route, record.trust) = (self.route, self.trust)
        (record.rule, record.decision) = (self.rule?.description, self.decision)
        record.pin = self.verdict?.matchedPin?.description
        var form: [String] = []
        for rule in (self.verdict?.form ?? []).map(\.rule.rawValue) where !form.contains(rule) { form.append(rule) }
        record.form = form
        if let verdict, verdict.reported?.code == .pinMismatch || verdict.error?.code == .pinMismatch {
            record.chain = verdict.chain.prefix(Self.longestChain).map(\.spkiPin.description)
            record.pin = record.chain.first
        }
        record.revision = self.revision
        record.assurance = self.assurance?.rawValue
        record.status = self.status.map(Int.init)
        record.upstreamStatus = self.upstreamStatus.map(Int.init)
        (record.bytesIn, record.bytesOut) = (self.bytesIn, self.bytesOut)
        record.duration = self.duration
        if self.metrics.total > .zero { self.fillTimes(of: &record) }
        record.tls = self.metrics.tlsVersion.isEmpty ? nil : self.metrics.tlsVersion
        record.http = self.metrics.httpVersion.isEmpty ? nil : self.metrics.httpVersion
        record.reused = self.metrics.address.isEmpty ? nil : self.metrics.reusedConnection
        if self.metrics.retries > 0 { record.retries = self.metrics.retries }
        if self.redirects > 0 { record.redirects = self.redirects }
        (record.cache, record.source) = (self.cache?.rawValue, self.source)
        (record.violations, record.error) = (self.violations, self.error)
        return record
    }

    private func fillTimes(of record: inout ExchangeRecord) {
        if !self.metrics.reusedConnection {
            record.connect = self.metrics.connect
            record.tlsHandshake = self.metrics.tls.map { $0 - (self.metrics.connect ?? .zero) }
        }
        record.firstByte = self.metrics.firstByte
    }

    private var source: ExchangeRecord.Source? {
        // A fault may leave the client without a response.
        if let simulation, self.problem == nil { return simulation.source }
        if self.status == nil || self.problem != nil { return self.status == nil ? nil : .pintle }
        if let cache, !cache.isFromOrigin { return .cache }
        return self.upstreamStatus != nil || self.mode == .tunnel ? .origin : .pintle
    }

    /// `allow`, or the decision of the problem in the response; `would-deny` if a report-only destination rule is broken.
    private var decision: String { self.problem?.decision ?? (self.wouldBeDenied ? "would-deny" : "allow") }
}
