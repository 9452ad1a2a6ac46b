// SPDX-License-Identifier: Apache-2.0

internal import PintleAttestation
internal import PintlePolicy
internal import PintleRehearsal
internal import PintleSerialization
internal import PintleSystem
internal import PintleTrust

/// The parts of a signed report that are known before the run.
struct RunSigning: Sendable {
    let key: SigningKey
    /// Nil for the embedded default.
    let configuration: ConfigurationDigest?
    /// The options of `pintle run` that change what the configuration means, without paths.
    let options: [String]
    let places: RulePlaces

    /// - Parameter files: the files that were read for `policy`.
    init(
        _ key: SigningKey, by policy: Policy, _ origin: ConfigurationOrigin, _ files: ReadFiles, options: [String]
    ) throws(CommandFailure) {
        (self.key, self.options) = (key, options)
        self.configuration = origin.path == nil ? nil : try ConfigurationDigest(files)
        self.places = RulePlaces(
            policy, file: origin.path, surroundings: .system(environment: Inherited.environment))
    }
}

/// A signed statement about a run; docs/signed-reports.md describes it.
struct RunStatement {
    let report: RunReport
    let ledger: ExchangeLedger
    /// The number of exchanges that came too fast for the ledger.
    let missed: Int
    let signing: RunSigning

    func write() throws(AttestationError) {
        let places = self.ledger.rules.reduce(into: [String: String]()) { places, rule in
            places[rule] = self.signing.places.place(of: rule)
        }
        try self.ledger.write(
            [
                ("report", RunJSONReport(report: self.report).document),
                ("configuration", self.signing.configuration.map(Self.document)),
                ("options", .strings(self.signing.options)),
            ], places: places, missed: self.missed, by: self.signing.key)
    }

    private static func document(_ configuration: ConfigurationDigest) -> Parameter {
        .object([
            ("sha256", .string(configuration.sha256)),
            (
                "files",
                .array(
                    configuration.files.map { path, digest in
                        ["path": .string(path.showingSystemBytes), "sha256": .string(digest)]
                    })
            ),
        ])
    }
}
