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
    /// Connections of the command that were seen past the proxy.
    var past: [PastConnection] = []
    /// The number of those that are left out.
    var morePast = 0
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
            case .bypass: self.past.count + self.morePast + self.refusedPast > 0
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

/// A connection that went past the proxy.
struct PastConnection: Sendable, Hashable, Comparable {
    /// Address and port.
    var remote: String
    /// The program, as the system calls it: at most 15 bytes.
    var program: String

    static func < (left: PastConnection, right: PastConnection) -> Bool {
        (left.remote, left.program) < (right.remote, right.program)
    }
}
