// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

/// The facts of an exchange that has ended, without those that it has in common with others and without its heads.
///
/// Tens of thousands are kept. So they are small, and have no references: those would have to be released one by one, from memory
/// that was not touched for long.
struct EndedFacts: BitwiseCopyable, Sendable {
    /// A duration that may be missing, in half the room of an optional one.
    struct Time: BitwiseCopyable, Sendable {
        private let attoseconds: Int128

        init(_ duration: Duration?) { self.attoseconds = duration?.attoseconds ?? -1 }

        var duration: Duration? { self.attoseconds < 0 ? nil : Duration(attoseconds: self.attoseconds) }
    }

    /// A version of HTTP in a byte.
    enum Version: UInt8, BitwiseCopyable, Sendable {
        case http10, http11, http2

        init(isHTTP2: Bool, minorVersion: UInt8) {
            self = isHTTP2 ? .http2 : minorVersion == 0 ? .http10 : .http11
        }

        var text: String {
            switch self {
            case .http10: "1.0"
            case .http11: "1.1"
            case .http2: "2"
            }
        }
    }

    let connect: Time
    let tls: Time
    let firstByte: Time
    let id: ExchangeID
    let nanoseconds: Int64
    /// The time of the end.
    let moment: Timestamp
    let bytesIn: Int
    let bytesOut: Int
    let retries: UInt32
    let redirects: UInt32
    /// The status sent to the client; nil without a response.
    let status: UInt16?
    let upstreamStatus: UInt16?
    /// The version that the client spoke.
    let version: Version
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
    let wouldBeDenied: Bool
    let hasNamelessHello: Bool
    let isOpaque: Bool
    let reusedConnection: Bool
    /// True if the times of the transfer are known.
    let hasTimes: Bool
}

extension EndedFacts {
    /// Takes each part from where it is: a copy of `report.facts` or `report.metrics` would retain all their parts.
    init(_ report: ExchangeReport, _ end: ExchangeEnd) {
        (self.connect, self.tls) = (Time(report.metrics.connect), Time(report.metrics.tls))
        self.firstByte = Time(report.metrics.firstByte)
        (self.id, self.nanoseconds, self.moment) = (report.id, end.nanoseconds, end.moment)
        (self.bytesIn, self.bytesOut) = (report.bytesIn, report.bytesOut)
        self.retries = UInt32(clamping: report.metrics.retries)
        self.redirects = UInt32(clamping: report.redirects)
        (self.status, self.upstreamStatus) = (report.status, report.upstreamStatus)
        self.version = Version(
            isHTTP2: report.request.head.cameByHTTP2, minorVersion: report.request.head.minorVersion)
        (self.mode, self.assurance, self.problem) = (report.mode, report.assurance, report.problem)
        (self.cache, self.simulation, self.outcome) = (report.cache, report.simulation, end.outcome)
        (self.continuesTunnel, self.isCaptured) = (report.continuesTunnel, report.isCaptured)
        (self.wouldBeDenied, self.hasNamelessHello) = (report.wouldBeDenied, report.hasNamelessHello)
        (self.isOpaque, self.reusedConnection) = (report.isOpaque, report.metrics.reusedConnection)
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
