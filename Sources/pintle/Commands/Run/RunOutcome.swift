// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Tells, when the command has ended: warnings, the summary, the reports, and the exit code.
struct RunOutcome {
    var report: RunReport
    let reports: [RunReportFile]
    /// The lines that were logged meanwhile.
    let logged: [String]
    /// Nil where nothing was to be learnt.
    let learnt: RunLearning.Result?
    /// True where the command has ended by an interruption that was meant for Pintle too.
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
        // The lines for build servers are put around it afterwards.
        let summary = Output.wrapped(RunSummary(report: report, isColoured: isColoured).text, for: STDERR_FILENO)
        Output.status(server?.framed(summary, report) ?? summary)
        if let learnt { Output.error(learnt.line) }
        var isIncomplete = learnt?.isWhole == false
        for file in self.reports where !self.write(file, report) { isIncomplete = true }
        if let obstacle = server?.tell(report) { Output.error("pintle run: \(obstacle)") }
        return report.end.runCode(hasFindings: hasFindings, isIncomplete: isIncomplete)
    }

    private func write(_ file: RunReportFile, _ report: RunReport) -> Bool {
        do throws(SystemError) {
            try FileWriting.replace(file.path, with: Array(file.format.write(report).utf8))
            return true
        } catch {
            Output.error("pintle run: --report \(file.path) cannot be written: \(error)")
            return false
        }
    }
}
