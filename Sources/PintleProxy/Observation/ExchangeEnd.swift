// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

/// The end of an exchange, for sinks that take at once the little that they need.
///
/// Nothing is made or copied for it: nearly all exchanges are only counted, or kept until others push them out.
package struct ExchangeEnd: ~Copyable {
    let report: ExchangeReport
    let outcome: Outcome
    package let nanoseconds: Int64
    /// The time of the end.
    package let moment: Timestamp
    /// Nil if there are none of these parts.
    let extras: EndedExtras?
    /// The configuration that the exchange was treated by; nil if it is not told.
    let configuration: ActiveConfiguration?
    package let violations: [ViolationKind]

    init(
        _ report: ExchangeReport, _ outcome: Outcome, _ extras: EndedExtras?,
        in configuration: ActiveConfiguration? = nil
    ) {
        (self.report, self.outcome, self.extras) = (report, outcome, extras)
        (self.configuration, self.violations) = (configuration, report.violations)
        self.nanoseconds = (NIODeadline.now() - report.start).nanoseconds
        self.moment = .now()
    }

    /// The counters of the route; those of no route if none matched.
    package var counters: RouteCounters { self.report.counters }
    package var trust: String? { self.report.trust }
    /// The status sent to the client; nil without a response.
    package var status: UInt16? { self.report.status }
    /// The method; empty if the client sent no request.
    package var method: String { self.report.request.head.method }
    /// The id in problems and logs.
    package var name: String { self.report.id.description }
    /// True if a pin of the trust policy has matched.
    package var matchesPin: Bool { self.report.verdict?.matchedPin != nil }
}
