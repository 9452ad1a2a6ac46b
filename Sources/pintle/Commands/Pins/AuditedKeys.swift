// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import PintleAudit
internal import PintlePins
internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// The keys that audits have seen of a configuration's hosts, for the commands that examine its pins.
struct AuditedKeys: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The history of audits, for what servers have shown; off looks at none.",
            discussion: "Default: audit.sqlite in $XDG_STATE_HOME/pintle, where there is one.", valueName: "file|off"),
        completion: .file())
    var history: String?

    /// Returns the keys by the names of policies. If the default history exists but cannot be read, reports this and
    /// returns none.
    ///
    /// - Throws: an error if a history that the user named cannot be read.
    func seen(of origin: ConfigurationOrigin) throws(CommandFailure) -> [String: SeenKeys] {
        guard self.history != "off" else { return [:] }
        let path = self.history ?? UserFile.history.path
        guard let path, self.history != nil || access(path, F_OK) == 0 else { return [:] }
        do throws(HistoryError) {
            let chains = try AuditHistory.existing(path)
                .seenChains(configuration: origin.path ?? "embedded default")
            return chains.mapValues { chain in
                SeenKeys(
                    audits: chain.audits, since: chain.since, certificates: chain.certificates, strays: chain.strays)
            }
        } catch {
            guard self.history == nil else { throw CommandFailure(.incomplete, "\(error)") }
            Output.error("\(error); what audits have seen is left out")
            return [:]
        }
    }
}
