// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePins
internal import PintlePolicy
internal import PintleTrust

struct PinsLint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Look for what is wrong with the pins of a configuration, without network.",
        discussion: """
            A finding is a line: file:line:column: PINTLE02xx name: place: what is wrong and what to do.
            Exit code 0 without findings, 1 with findings, 3 when the configuration is invalid.
            """)

    @OptionGroup var configuration: ConfigurationOptions
    @OptionGroup var audited: AuditedKeys

    func run() async throws {
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        let findings = PinLint(policy, now: .now, seen: try self.audited.seen(of: origin)).findings
        for finding in findings { try Output.prose(finding.line(file: origin.path ?? "embedded default").plainLine) }
        guard !findings.isEmpty else { return }
        let count = findings.count == 1 ? "1 finding" : "\(findings.count) findings"
        throw CommandFailure(.found, "pintle pins lint: \(count)")
    }
}
