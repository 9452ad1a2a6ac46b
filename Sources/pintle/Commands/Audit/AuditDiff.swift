// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleAudit
internal import PintleSystem
internal import PintleTrust

struct AuditDiff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say what changed between audits: keys, issuers, certificates, verdicts, groups, CAA records, hosts.",
        discussion: """
            The newest audit of the history is compared with the one before it of the same configuration and the same \
            --host and --policy. --history FILE says which history; default is audit.sqlite in \
            $XDG_STATE_HOME/pintle, and --format text or json how the changes are written. No other option of audit applies.

            Exit code 0 when nothing changed, or there is nothing to compare with; 1 when something did; 2 when the \
            command line is wrong; 4 when the history cannot be read.
            """)

    /// The parent command; its options, such as `--history`, may stand before or after `diff`.
    @ParentCommand var audit: Audit

    @Option(
        help: ArgumentHelp(
            "Compare with the last audit at or before this time: 2027-01-01, or 2027-01-01T12:00:00Z.",
            valueName: "time"))
    var since: String?

    func run() throws {
        guard self.audit.optionsOfTheAuditAlone.isEmpty else {
            let options = self.audit.optionsOfTheAuditAlone.joined(separator: ", ")
            throw CommandFailure(
                .usage, "pintle audit diff: \(options) is for audits; diff has --history, --since and --format")
        }
        let format = self.audit.format ?? .text
        guard [.text, .json].contains(format) else {
            throw CommandFailure(
                .usage, "pintle audit diff: --format \(format.rawValue) is for audits; changes are text or json")
        }
        guard self.audit.history != "off" else {
            throw CommandFailure(.usage, "pintle audit diff: --history off: there is nothing to read; give a file")
        }
        var moment: UnixTime?
        if let since {
            moment = UnixTime(iso8601: since)
            guard moment != nil else {
                throw CommandFailure(
                    .usage,
                    "pintle audit diff: --since \(since.debugDescription): must be a date or a time, as in "
                        + "2027-01-01T12:00:00Z")
            }
        }
        let difference: AuditDifference?
        let path = try self.path()
        do throws(HistoryError) {
            difference = try self.difference(in: path, since: moment)
        } catch {
            throw CommandFailure(.incomplete, "pintle audit diff: \(error)")
        }
        let changes = difference?.changes ?? []
        switch format {
        case .json: try Output.bytes(Array(AuditDifference.document(of: difference).utf8))
        default: for change in changes { try Output.prose(change.line) }
        }
        guard changes.isEmpty else { throw CommandFailure(.found, lines: []) }
    }

    private func path() throws(CommandFailure) -> String {
        guard let path = self.audit.history ?? UserFile.history.path
        else {
            throw CommandFailure(
                .incomplete, "pintle audit diff: neither $XDG_STATE_HOME nor $HOME is set; give --history")
        }
        return path
    }

    /// Compares the audits; nil if there is nothing to compare.
    private func difference(in path: String, since moment: UnixTime?) throws(HistoryError) -> AuditDifference? {
        let history = try AuditHistory.existing(path)
        guard let pair = try history.pair(since: moment) else {
            Output.error("pintle audit diff: \(path): no audit is in the history yet")
            return nil
        }
        let subject = "\(pair.new.configuration)\(pair.new.scope.isEmpty ? "" : " with \(pair.new.scope)")"
        guard let old = pair.old else {
            Output.error("pintle audit diff: \(path): the audit of \(pair.new.startedAt) is the first of \(subject)")
            return nil
        }
        Output.error("\(subject): from \(old.startedAt) to \(pair.new.startedAt)")
        return try AuditDifference(from: old, to: pair.new, in: history)
    }
}
