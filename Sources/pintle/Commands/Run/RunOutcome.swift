// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleAttestation
internal import PintlePolicy
internal import PintleSystem
internal import PintleWatch

/// Reports the end of a run: warnings, the summary, the reports, and the exit code.
struct RunOutcome {
    var report: RunReport
    /// The reports, each with statistics of its own if it has a filter, and with its exchanges if it is signed.
    let reports: [(file: RunReportFile, statistics: RunStatistics?, ledger: ExchangeLedger?)]
    /// The number of exchanges that reports with a filter do not have, because they came too fast.
    let missed: Int
    /// The number of exchanges that signed reports do not have, because they came too fast.
    let missedBySigned: Int
    /// Nil if no report is signed.
    let signing: RunSigning?
    /// The lines that were logged during the run.
    let logged: [String]
    /// The result of learning; nil if the run was not used for it.
    let learnt: RunLearning.Result?
    /// True if the command was ended by an interrupt that was meant for Pintle too.
    let isInterrupted: Bool
    let environment: [String: String]

    /// Writes everything.
    ///
    /// - Returns: the exit code of `pintle run`.
    func tell() -> Int32 {
        var report = self.report
        // Known before the reports are written, so that they state the exit code as it will be.
        var isIncomplete =
            self.learnt?.isWhole == false || self.missed > 0 || self.reports.contains(where: self.lacksSome)
        func state() {
            report.exitCode = report.end.runCode(hasFindings: report.hasFindings, isIncomplete: isIncomplete)
        }
        state()
        for line in self.logged { Output.error("pintle: \(line)") }
        let server = BuildServer(environment: self.environment)
        let terminal = Terminal(environment: self.environment)
        let isColoured = terminal.hasColour && (terminal.showsBars || server == .gitlab)
        // The lines for build servers are added afterwards, so that they are not wrapped.
        let text = RunSummary(report: report, isColoured: isColoured)
        let summary = Output.wrapped(text.text, for: STDERR_FILENO)
        Output.status(server?.framed(summary, report) ?? summary)
        if let learnt { Output.error(learnt.line) }
        var (hasFailed, haveAnswers) = (false, false)
        for (file, statistics, ledger) in self.reports {
            var own = report
            if let statistics { (own.filter, own.statistics) = (file.filter, statistics) }
            let failure = if let ledger { self.sign(own, ledger) } else { self.write(file, own) }
            if let failure {
                Output.error("pintle run: --report \(file.path) \(failure)")
                (hasFailed, isIncomplete) = (true, true)
                state()
            } else if file.format != .har {
                haveAnswers = true
            }
        }
        // The summary leaves those that are many to the reports.
        if hasFailed, !haveAnswers { for line in text.furtherGrants { Output.error("pintle run: \(line)") } }
        if self.missed > 0 {
            Output.error(
                "pintle run: \(self.missed) exchanges came too fast for the reports with filters, and are not in them")
        }
        if let obstacle = server?.tell(report) { Output.error("pintle run: \(obstacle)") }
        return report.exitCode
    }

    /// True if a signed report lacks exchanges.
    private func lacksSome(
        _ report: (file: RunReportFile, statistics: RunStatistics?, ledger: ExchangeLedger?)
    ) -> Bool { report.ledger.map { $0.missing + self.missedBySigned > 0 } ?? false }

    /// - Returns: the reason why the report is not whole; nil on success.
    private func write(_ file: RunReportFile, _ report: RunReport) -> String? {
        do throws(SystemError) {
            try FileWriting.replace(file.path, with: Array(file.format.write(report).utf8))
            return nil
        } catch {
            return "cannot be written: \(error)"
        }
    }

    /// - Returns: the reason why the report is not whole; nil on success.
    private func sign(_ report: RunReport, _ ledger: ExchangeLedger) -> String? {
        guard let signing else { preconditionFailure("BUG: a report is to be signed without a key") }
        do throws(AttestationError) {
            try RunStatement(report: report, ledger: ledger, missed: self.missedBySigned, signing: signing).write()
        } catch {
            return "cannot be written: \(error)"
        }
        let missing = ledger.missing + self.missedBySigned
        return missing == 0 ? nil : "lacks \(missing) exchanges, which came too fast or were too long; it says so"
    }
}
