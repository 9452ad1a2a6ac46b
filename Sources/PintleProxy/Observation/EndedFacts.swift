// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

/// The facts of an exchange that has ended, without the target and the fields of its messages.
///
/// Tens of thousands are kept, so it is packed: in units and types that need little room, and with ``EndedExtras`` behind a
/// reference.
struct EndedFacts: Sendable {
    /// A duration that may be missing, in half the room of an optional one.
    struct Time: Sendable {
        private let attoseconds: Int128

        init(_ duration: Duration?) { self.attoseconds = duration?.attoseconds ?? -1 }

        var duration: Duration? { self.attoseconds < 0 ? nil : Duration(attoseconds: self.attoseconds) }
    }

    let duration: Duration
    let connect: Time
    let tls: Time
    let firstByte: Time
    let id: ExchangeID
    let client: Client?
    let process: ClientProcess?
    /// The counters of the route; those of no route if none matched.
    let counters: RouteCounters
    let verdict: Verdict?
    /// Nil if there are none of these parts.
    let extras: EndedExtras?
    let violations: [ViolationKind]
    /// Empty if the client sent no request.
    let method: String
    let trust: String?
    /// The rule that decided.
    let rule: String?
    /// The revision of the configuration that the exchange was treated by.
    let revision: String?
    /// Empty if no connection was made.
    let address: String
    let tlsVersion: String
    let httpVersion: String
    /// The time of the end.
    let moment: Timestamp
    let bytesIn: Int
    let bytesOut: Int
    let retries: UInt32
    let redirects: UInt32
    /// The status sent to the client; nil without a response.
    let status: UInt16?
    let upstreamStatus: UInt16?
    let mode: ExchangeReport.Mode
    let assurance: ExchangeReport.Assurance?
    let problem: Problem.Name?
    let cache: CacheOutcome?
    /// The kind of answer, if it was not the origin's own.
    let simulation: Simulation?
    let outcome: Outcome
    let continuesTunnel: Bool
    /// True if the client has not asked the proxy.
    let isCaptured: Bool
    let isRouted: Bool
    let wouldBeDenied: Bool
    let hasNamelessHello: Bool
    let reusedConnection: Bool
    /// True if the times of the transfer are known.
    let hasTimes: Bool
}

extension EndedFacts {
    /// Takes each part from where it is: a copy of `report.facts` or `report.metrics` would retain all their parts.
    init(_ end: borrowing ExchangeEnd) {
        let report = end.report
        self.duration = end.duration
        (self.connect, self.tls) = (Time(report.metrics.connect), Time(report.metrics.tls))
        self.firstByte = Time(report.metrics.firstByte)
        (self.id, self.client, self.process) = (report.id, report.client, report.process)
        (self.counters, self.verdict, self.extras) = (report.counters, report.facts.verdict, end.extras)
        (self.violations, self.method) = (report.facts.violations, report.request.head.method)
        (self.trust, self.rule, self.revision) = (report.trust, report.rule?.description, end.revision)
        self.address = report.metrics.address
        (self.tlsVersion, self.httpVersion) = (report.metrics.tlsVersion, report.metrics.httpVersion)
        self.moment = end.moment
        (self.bytesIn, self.bytesOut) = (report.bytesIn, report.bytesOut)
        self.retries = UInt32(clamping: report.metrics.retries)
        self.redirects = UInt32(clamping: report.facts.redirects)
        (self.status, self.upstreamStatus) = (report.status, report.upstreamStatus)
        (self.mode, self.assurance, self.problem) = (report.mode, report.facts.assurance, report.problem)
        (self.cache, self.simulation, self.outcome) = (report.facts.cache, report.simulation, end.outcome)
        (self.continuesTunnel, self.isCaptured) = (report.continuesTunnel, report.isCaptured)
        self.isRouted = report.facts.route != nil
        (self.wouldBeDenied, self.hasNamelessHello) = (report.wouldBeDenied, report.hasNamelessHello)
        self.reusedConnection = report.metrics.reusedConnection
        self.hasTimes = report.metrics.total > .zero
    }
}

/// Parts that most exchanges lack.
final class EndedExtras: Sendable {
    let identity: ProxyIdentity
    let gatewayHost: String?
    let error: String?
    /// The names of the credentials that the request has got.
    let credentials: [String]
    let response: ObservedResponse?
    let bodies: CapturedBodies?
    let trace: ExchangeTrace?
    let digest: BodyDigest?

    init(
        _ identity: ProxyIdentity, gatewayHost: String?, error: String?, credentials: [String],
        _ response: ObservedResponse?, _ bodies: CapturedBodies?, _ trace: ExchangeTrace?, _ digest: BodyDigest?
    ) {
        (self.identity, self.gatewayHost, self.error) = (identity, gatewayHost, error)
        self.credentials = credentials
        (self.response, self.bodies, self.trace, self.digest) = (response, bodies, trace, digest)
    }

    /// - Returns: nil if there are none.
    convenience init?(
        _ report: ExchangeReport, _ response: ObservedResponse?, _ bodies: CapturedBodies?, _ digest: BodyDigest?
    ) {
        if report.identity.user == nil, report.identity.tag == nil, report.request.gatewayHost == nil,
            report.error == nil, response == nil, bodies == nil, !report.isTraced, report.releases.isEmpty,
            digest == nil
        {
            return nil
        }
        self.init(
            report.identity, gatewayHost: report.request.gatewayHost, error: report.error,
            credentials: report.releases.isEmpty ? [] : report.credentials, response, bodies,
            report.isTraced ? report.trace : nil, digest)
    }

    /// The bytes in memory, about.
    var size: Int { 512 + (self.error?.utf8.count ?? 0) }
}
