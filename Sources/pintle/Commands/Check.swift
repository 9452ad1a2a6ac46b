// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load, compile and lint a configuration, without network: what serve would run.",
        discussion: "Exit code 0 without findings or with warnings only, 3 when the configuration is invalid.")

    @OptionGroup var configuration: ConfigurationOptions

    func run() throws {
        let (policy, origin) = try self.configuration.load()
        Output.error("configuration: \(origin)")
        let lint = Lint(policy)
        for finding in lint.findings {
            let place = "\(origin.path ?? "embedded default"):\(finding.position)"
            Output.data("\(place): \(finding.severity): \(finding.path): \(finding.message)")
        }
    }
}
