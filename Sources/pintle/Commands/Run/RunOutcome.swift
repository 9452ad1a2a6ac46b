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
        let hasFindings = report.hasFindings
        report.exitCode = report.end.runCode(hasFindings: hasFindings, isIncomplete: false)
        for line in self.logged { Output.error("pintle: \(line)") }
        let server = BuildServer(environment: self.environment)
        let terminal = Terminal(environment: self.environment)
        let isColoured = terminal.hasColour && (terminal.showsBars || server == .gitlab)
        // The lines for build servers are added afterwards, so that they are not wrapped.
        let summary = Output.wrapped(RunSummary(report: report, isColoured: isColoured).text, for: STDERR_FILENO)
        Output.status(server?.framed(summary, report) ?? summary)
        if let learnt { Output.error(learnt.line) }
        var isIncomplete = learnt?.isWhole == false
        for (file, statistics, ledger) in self.reports {
            var report = report
            if let statistics { (report.filter, report.statistics) = (file.filter, statistics) }
            let failure = if let ledger { self.sign(report, ledger) } else { self.write(file, report) }
            if let failure {
                Output.error("pintle run: --report \(file.path) \(failure)")
                isIncomplete = true
            }
        }
        if self.missed > 0 {
            Output.error(
                "pintle run: \(self.missed) exchanges came too fast for the reports with filters, and are not in them")
            isIncomplete = true
        }
        if let obstacle = server?.tell(report) { Output.error("pintle run: \(obstacle)") }
        return report.end.runCode(hasFindings: hasFindings, isIncomplete: isIncomplete)
    }

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
