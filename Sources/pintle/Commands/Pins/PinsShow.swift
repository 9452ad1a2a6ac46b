// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePins
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

struct PinsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the certificates of a host or a file, their pins, and an entry of trust for them.",
        discussion: """
            A host is asked once, on the first of its addresses that answers; nothing is sent over the connection. Its \
            chain is shown also when it is not valid here, with a warning on standard error: pin no key of a server that \
            you have no other reason to believe.

            Exit code 0 when the chain is shown; 3 when the file holds something else than certificates; 4 when the host \
            cannot be reached, or the file cannot be read.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case yaml, json, text
    }

    @Argument(
        help: ArgumentHelp("The host to ask, or a URL of it; port 443 unless one is given.", valueName: "host[:port]"))
    var host: String?

    @Option(
        help: ArgumentHelp("Certificates in a file, leaf first, as PEM or DER.", valueName: "pem"), completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The only anchors that a host's chain may lead to, PEM or DER. Default: those of the system.",
            valueName: "pem"), completion: .file())
    var roots: String?

    @Option(help: "How it is written; yaml is a configuration by itself, with the chain in comments.")
    var format = Format.yaml

    private static let name = "pintle pins show"

    func validate() throws {
        if (self.host == nil) == (self.file == nil) { throw ValidationError("Give a host, or --file and a file.") }
        if self.file != nil, self.roots != nil {
            throw ValidationError("--roots is for a host: a file is shown as it is.")
        }
    }

    func run() async throws {
        let report: ChainReport
        if let file = self.file {
            do throws(PinFormatError) {
                report = ChainReport(try CertificateFolder.certificates(file))
            } catch {
                throw CommandFailure(Self.name, error)
            }
        } else {
            report = try await self.ask(self.host ?? "")
        }
        switch self.format {
        case .yaml: try Output.data(report.yaml)
        case .text: try Output.data(report.text)
        case .json: try Output.json(report)
        }
    }

    // MARK: A host

    private func ask(_ text: String) async throws(CommandFailure) -> ChainReport {
        let authority = try Self.authority(text)
        let loop: Loop
        let evaluator: TrustEvaluator
        do {
            loop = try Loop(name: "probe")
            evaluator = try TrustEvaluator(policy: try self.policy())
        } catch {
            throw CommandFailure(.incomplete, "\(Self.name): \(error)")
        }
        defer { loop.stop() }
        let limit = Self.timeLimit.spelled
        let notice = WaitNotice(
            "\(Self.name): \(authority): waiting for \(limit) at most, after as long for its name")
        defer { notice.end() }
        let result = try await Self.probe(authority, evaluator, loop)
        let refusal = result.verdict?.error
        if let refusal {
            Output.error("\(Self.name): \(authority): this chain is not valid here: \(refusal)")
        }
        return ChainReport(
            result.presented, host: "\(authority)", pattern: authority.description(for: .https),
            isTrusted: refusal == nil, refusal: refusal?.description)
    }

    /// Reads a host, or the host of a URL.
    private static func authority(_ text: String) throws(CommandFailure) -> Authority {
        guard text.contains("://") else {
            guard let authority = Authority(text, defaultPort: Scheme.https.defaultPort) else {
                throw CommandFailure(.usage, "\(Self.name): \(text.debugDescription) is not host or host:port")
            }
            return authority
        }
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(text) } catch {
            throw CommandFailure(.usage, "\(Self.name): \(text.debugDescription): \(error)")
        }
        guard url.isSecure else {
            let place = "\(url.authority.host):\(Scheme.https.defaultPort)"
            throw CommandFailure(
                .usage,
                "\(Self.name): \(text.debugDescription): http shows no certificate; give an https URL, or \(place)")
        }
        return url.authority
    }

    private func policy() throws -> SecurityPolicy {
        guard let roots else { return .default }
        return SecurityPolicy.default.trusting(only: try Certificate.load(path: roots))
    }

    /// For the lookup of the name, and for each address.
    private static let timeLimit = Duration.seconds(10)

    /// Connects to all addresses in a race, and returns the first result with a chain.
    private static func probe(
        _ authority: Authority, _ evaluator: TrustEvaluator, _ loop: Loop
    ) async throws(CommandFailure) -> ProbeResult {
        let addresses: [SocketAddress]
        do throws(HostResolver.Failure) {
            addresses = try await HostResolver.addresses(
                of: authority.host, port: authority.port, within: Self.timeLimit, on: loop)
        } catch {
            throw CommandFailure(.incomplete, "\(Self.name): \(authority): \(error)")
        }
        let race = await Probe.race(over: addresses, on: loop) { address in
            var probe = Probe(address: address, host: authority.host, evaluator: evaluator)
            probe.judgement = .observed(at: nil)
            probe.timeLimit = Self.timeLimit
            return probe
        } until: {
            !$0.presented.isEmpty
        }
        if let winner = race.winner { return winner }
        throw CommandFailure(
            .incomplete,
            lines: race.others.map { address, result in
                let reason = result.failure.map { "\($0)" } ?? "it showed no certificate"
                return "\(Self.name): \(authority): \(address.ipAddress ?? "\(address)"): \(reason)"
            })
    }
}
