// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit

/// The deeds of a command through its proxy: a value from which the summary and every report are written.
///
/// Secrets were taken out of it already, as the configuration wants it. Of the command it has the program alone: arguments
/// may be secrets.
struct RunReport: Sendable, Equatable {
    /// Of Pintle.
    var version: String
    /// The configuration's file; nil for the embedded default.
    var file: String?
    /// The first word of the command.
    var program: String
    var startedAt: Timestamp
    var duration: Duration
    var end: ChildEnd
    /// That of `pintle run`.
    var exitCode: Int32
    var tally: RunTally
    /// Connections of the command past the proxy.
    var past = PastConnections()
    /// Attempts to connect past the proxy that the command's own network has refused.
    var refusedPast = 0
    /// The kinds of findings that make the exit code 1.
    var failOn: Set<RunConcern> = [.violation]

    /// The configuration, as people call it.
    var configuration: String { self.file ?? "embedded default" }

    /// True where there is any of what makes the exit code 1.
    var hasFindings: Bool {
        let totals = self.tally.totals
        return self.failOn.contains { concern in
            switch concern {
            case .violation: totals.denied + totals.violations > 0
            case .failure: totals.failed > 0
            case .bypass: self.past.count + self.refusedPast > 0
            }
        }
    }

    /// `3 attempts were refused by the command's own network`; nil where there was none.
    var refusedWords: String? {
        guard self.refusedPast > 0 else { return nil }
        let verb = self.refusedPast == 1 ? "was" : "were"
        return "\(ReportText.count(self.refusedPast, "attempt")) \(verb) refused by the command's own network"
    }

    /// `error` for what makes the exit code 1, and for what is denied or violated in any case; else `warning`.
    func level(of rule: RunRule) -> String {
        switch rule {
        case .failed: self.failOn.contains(.failure) ? "error" : "warning"
        case .pastProxy: self.failOn.contains(.bypass) ? "error" : "warning"
        default: "error"
        }
    }
}

/// One thing that was denied or violated, however often.
struct RunFinding: Sendable, Hashable {
    var rule: RunRule
    var method: String
    /// `host:port` for a tunnel.
    var url: String
    var host: String
    var route: String?
    var trust: String?
    /// The rule of the configuration that decided about the destination.
    var decidedBy: String?
    /// Servers may have chosen parts of it.
    var reason: String
    /// The status that the program was answered with.
    var status: Int?
}

/// The connections that went past the proxy, and how well that could be seen.
struct PastConnections: Sendable, Equatable {
    enum Sight: String, Sendable {
        /// Each one.
        case all
        /// Those that were there when somebody looked.
        case sampled
        /// There were more than could be noted.
        case lossy
        case none
    }

    var found: [PastConnection] = []
    /// The number of those that are left out.
    var more = 0
    var sight = Sight.all

    var count: Int { self.found.count + self.more }

    /// The gap in what was seen, in one sentence without a stop; nil where there is none.
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

/// A connection that went past the proxy, or tried to.
struct PastConnection: Sendable, Hashable, Comparable {
    /// Address and port.
    var remote: String
    /// The program, as the system calls it: at most 15 bytes.
    var program: String

    static func < (left: PastConnection, right: PastConnection) -> Bool {
        (left.remote, left.program) < (right.remote, right.program)
    }
}
