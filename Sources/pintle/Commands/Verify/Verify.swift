// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Judge a chain of certificates, without network.",
        discussion: """
            The chain is judged as a handshake would judge it; by a policy of the configuration where one is named, \
            otherwise by every rule for certificates of TLS servers. A root that is given is believed as it is. Exit code 0 when it is trusted, 1 when it is not.
            With --batch - each line of standard input is one chain, {"id", "chain": [PEM...], "roots": [PEM...], \
            "host", "at"}, and each line of standard output its verdict, {"id", "trusted", "error"}.
            """)

    @Option(
        help: ArgumentHelp("The chain, leaf first, the others in any order.", valueName: "file"), completion: .file())
    var chain: String?

    @Option(
        help: ArgumentHelp("Trust anchors in place of the policy's, each as it is.", valueName: "file"),
        completion: .file())
    var roots: String?

    @Option(help: ArgumentHelp("The name or address that the leaf must be for.", valueName: "name"))
    var host: String?

    @Option(
        help: ArgumentHelp("When the certificates must be valid, as 2026-01-01T12:00:00Z.", valueName: "time"))
    var at: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("A key that the verified chain must contain, as sha256/BASE64.", valueName: "pin"))
    var pin: [String] = []

    @OptionGroup var configuration: ConfigurationOptions

    @Option(help: ArgumentHelp("The trust policy of the configuration to judge by.", valueName: "name"))
    var policy: String?

    @Option(help: ArgumentHelp("Judge the lines of standard input; the file is -.", valueName: "file"))
    var batch: String?

    func run() async throws {
        if let batch {
            guard batch == "-", self.chain == nil, self.roots == nil, self.host == nil, self.at == nil else {
                throw CommandFailure(
                    .usage,
                    "pintle verify: --batch reads standard input, written as -, and each line has its own chain, "
                        + "roots, host and time")
            }
            let demand = try await self.demand()
            let verifier: OfflineVerifier
            do throws(TrustError) {
                verifier = try OfflineVerifier(policy: demand.policy, reportsOnly: demand.reportsOnly)
            } catch {
                throw CommandFailure(.incomplete, "pintle verify: \(error)")
            }
            var verification = BatchVerification(verifier)
            return try verification.run()
        }
        guard let chain else {
            throw CommandFailure(.usage, "pintle verify: name the chain with --chain FILE, or give --batch -")
        }
        let moment = try self.moment()
        let demand = try await self.demand()
        let verdict = try self.verdict(on: chain, demand, at: moment)
        for line in VerdictReport(verdict).lines { try Output.prose(line) }
        guard verdict.isTrusted else { throw CommandFailure(.found, lines: []) }
    }

    private func moment() throws(CommandFailure) -> UnixTime {
        guard let at else { return .now }
        guard let moment = UnixTime(iso8601: at) else {
            throw CommandFailure(
                .usage, "pintle verify: --at: \(at.debugDescription) is no time, as in 2026-01-01T12:00:00Z")
        }
        return moment
    }

    /// The requirements for a chain, from a policy of the configuration or only from the flags.
    private struct Demand {
        let policy: SecurityPolicy
        let reportsOnly: Bool
    }

    private func demand() async throws(CommandFailure) -> Demand {
        guard let name = self.policy else {
            guard self.configuration.file == nil else {
                throw CommandFailure(.usage, "pintle verify: name a policy of the configuration with --policy NAME")
            }
            return Demand(policy: try self.givenPolicy(), reportsOnly: false)
        }
        guard self.pin.isEmpty else {
            throw CommandFailure(.usage, "pintle verify: --policy has pins of its own; leave out --pin")
        }
        let (configured, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        let all = zip(configured.configuration.trust, configured.securityPolicies)
        guard let (trust, policy) = all.first(where: { $0.0.name == name }) else {
            let names = configured.configuration.trust.map(\.name)
            throw CommandFailure(
                .usage,
                "pintle verify: the configuration has no trust policy \(name.debugDescription); it has "
                    + (names.isEmpty ? "none" : names.joined(separator: ", ") + name.hint(of: names)))
        }
        let enforcement = trust.enforcement ?? configured.configuration.enforcement
        return Demand(policy: policy, reportsOnly: enforcement == .report)
    }

    private func givenPolicy() throws(CommandFailure) -> SecurityPolicy {
        do throws(TrustError) {
            var pins: Set<Pin> = []
            for text in self.pin { pins.insert(try Pin(text)) }
            return try SecurityPolicy(pinning: pins.isEmpty ? .none : .publicKey, pins: pins, form: .strict)
        } catch {
            throw CommandFailure(.usage, "pintle verify: --pin: \(error)")
        }
    }

    private func verdict(on chain: String, _ demand: Demand, at moment: UnixTime) throws(CommandFailure) -> Verdict {
        for file in [chain, self.roots].compactMap({ $0 }) where access(file, R_OK) != 0 {
            throw CommandFailure(.incomplete, "pintle verify: \(file): \(SystemError.last)")
        }
        let host = self.host.map(ReferenceName.ascii)
        do throws(TrustError) {
            var policy = demand.policy
            if let roots { policy = policy.trusting(only: try Certificate.load(path: roots)) }
            let evaluator = try TrustEvaluator(policy: policy, reportsOnly: demand.reportsOnly)
            return evaluator.evaluate(chain: try Certificate.load(path: chain), host: host, at: moment)
        } catch {
            // Bytes that are not a certificate cannot be trusted; this is a verdict, not a failure of the command.
            return Verdict(outcome: .refused(error), host: host)
        }
    }
}
