// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintlePolicy
internal import PintleProxy

/// The exchanges of a run, with their secrets, and the redaction that is due to them.
struct RunArchive: Sendable {
    let recent: RecentExchanges
    let redaction: Redaction
}

/// The results of a command's run through its proxy, from which the summary and every report are written.
///
/// Secrets were already redacted, as the configuration requires. Only the program of the command is stored, because
/// arguments may be secrets.
struct RunReport: Sendable {
    /// The version of Pintle.
    var version: String
    /// The path of the configuration; nil for the embedded default.
    var file: String?
    /// The first word of the command.
    var program: String
    var startedAt: Timestamp
    var duration: Duration
    var end: ChildEnd
    /// The exit code of `pintle run`.
    var exitCode: Int32
    /// The filter that has chosen the exchanges of the statistics; nil for all.
    var filter: ExchangeFilter?
    var statistics: RunStatistics
    /// The exchanges themselves, for HAR files; nil if none is written.
    var archive: RunArchive?
    /// Connections of the command past the proxy.
    var past = PastConnections()
    /// The number of attempts to bypass the proxy that the command's own network has refused.
    var refusedPast = 0
    /// The kinds of findings that make the exit code 1.
    var failOn: Set<RunConcern> = [.violation]
    /// The permissions that were answers to questions about destinations.
    var grants: [AskGrant] = []
    /// The number of further permissions that are not stored.
    var otherGrants = 0
    /// The seed of everything that simulations left to chance; nil without simulations.
    var seed: UInt64?
    /// True if the command's network brings connections to the proxy that do not ask for it.
    var isCaptured = false

    /// The name of the configuration for people.
    var configuration: String { self.file ?? "embedded default" }

    /// True if there is a finding that makes the exit code 1.
    var hasFindings: Bool {
        let totals = self.statistics.totals
        return self.failOn.contains { concern in
            switch concern {
            case .violation: totals.denied + totals.violations > 0
            case .failure: totals.failed > 0
            case .bypass: self.past.count + self.refusedPast > 0
            }
        }
    }

    /// The refused attempts in words: `3 attempts were refused by the command's own network`; nil if there were none.
    var refusedWords: String? {
        guard self.refusedPast > 0 else { return nil }
        let verb = self.refusedPast == 1 ? "was" : "were"
        return "\(ReportText.count(self.refusedPast, "attempt")) \(verb) refused by the command's own network"
    }

    /// The captured programs in words: `curl and java did not use the proxy variables, and were captured`; nil if there were
    /// none.
    var capturedWords: String? {
        let totals = self.statistics.totals
        guard totals.captured > 0 else { return nil }
        let names = self.statistics.capturedPrograms.sorted()
        let subject = names.isEmpty ? "programs" : names.joined(separator: ", ")
        return "\(subject) did not use the proxy variables; \(ReportText.count(totals.captured, "exchange")) captured"
    }

    /// Returns `error` for findings that make the exit code 1, and always for denials and violations; `note` for those that
    /// change nothing; otherwise `warning`.
    func level(of rule: RunRule) -> String {
        switch rule {
        case .failed: self.failOn.contains(.failure) ? "error" : "warning"
        case .pastProxy: self.failOn.contains(.bypass) ? "error" : "warning"
        case .ignoredProxy, .granted: "note"
        default: "error"
        }
    }
}

extension AskGrant {
    /// The permission in words, with the line for the configuration:
    /// `api.example:443 was granted at the terminal, once (2 requests); to keep it: destinations: {allow: ["api.example:443"]}`.
    var sentence: String {
        "\(self.authority) was \(self.words) (\(ReportText.count(self.requests, "request"))); to keep it: \(self.line)"
    }
}

/// A denial or a violation, which may have happened several times.
struct RunFinding: Sendable, Hashable {
    var rule: RunRule
    var method: String
    /// The URL; `host:port` for a tunnel.
    var url: String
    var host: String
    var route: String?
    var trust: String?
    /// The rule of the configuration that decided about the destination.
    var decidedBy: String?
    /// The reason in words; servers may have chosen parts of it.
    var reason: String
    /// The status of the response that the program received.
    var status: Int?
}

/// The connections that bypassed the proxy, and the quality of the observation.
struct PastConnections: Sendable, Equatable {
    enum Sight: String, Sendable {
        /// Every connection was seen.
        case all
        /// Only connections that existed when the watch looked were seen.
        case sampled
        /// Some events were lost.
        case lossy
        case none
    }

    var found: [PastConnection] = []
    /// The number of further connections that are not listed.
    var more = 0
    var sight = Sight.all

    var count: Int { self.found.count + self.more }

    /// The limits of the observation, in one sentence without a stop; nil if nothing was missed.
    var gap: String? {
        switch self.sight {
        case .all: nil
        case .sampled:
            "connections past the proxy were looked for from time to time, so short ones may be missing here: to see all takes "
                + "root, or CAP_PERFMON; --isolate lets none past"
        case .lossy: "there were more connections than could be noted, so some past the proxy may be missing here"
        case .none: "connections past the proxy were not looked for: the system has no thread for it"
        }
    }
}

/// A connection that bypassed the proxy, or tried to.
struct PastConnection: Sendable, Hashable, Comparable {
    /// The address and the port.
    var remote: String
    /// The program's name in the kernel, at most 15 bytes.
    var program: String

    static func < (left: PastConnection, right: PastConnection) -> Bool {
        (left.remote, left.program) < (right.remote, right.program)
    }
}
