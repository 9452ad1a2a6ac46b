// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CPintleProcess
internal import Glibc
internal import PintlePolicy
internal import PintleSystem

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try which programs on this machine can be led through the proxy.",
        discussion: """
            Each program that is installed asks a proxy in this process for one page over http, and for one over https that is \
            intercepted, with nothing but the variables that pintle run and pintle env set. The origin is in this process, \
            too, and nothing is sent beyond this machine. Of the configuration, only its authority \
            (`interception.ca`) counts; where the user has none, one is made for this command alone.

            Exit code: 0 when every program works both ways, 1 when one does not.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text
        case json
    }

    @OptionGroup var configuration: ConfigurationOptions

    @Option(help: ArgumentHelp("text or json. Default text.", valueName: "format"))
    var format: Format = .text

    @Argument(
        help: ArgumentHelp(
            "The programs to try. Default all that are known: \(DoctorClient.all.map(\.name).joined(separator: ", ")).",
            valueName: "program"))
    var clients: [String] = []

    func run() async throws {
        let clients = try self.chosen()
        let environment = Inherited.environment
        let signals: SignalPipe
        do throws(SystemError) {
            signals = try SignalPipe(ClientRun.signals)
        } catch {
            throw CommandFailure(.incomplete, "pintle doctor: there is no pipe for signals: \(error)")
        }
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        let stage = try await DoctorStage(policy.configuration.interception, environment)
        var diagnoses: [Diagnosis] = []
        var ending: Int32?
        for client in clients {
            let limit = ClientRun.patience.spelled
            let notice = WaitNotice("pintle doctor: \(client.name): each of its runs may take \(limit)")
            defer { notice.end() }
            let diagnosis: Diagnosis
            do throws(ClientRun.Interruption) {
                diagnosis = try await stage.diagnose(client, signals)
            } catch {
                ending = error.signal
                break
            }
            diagnoses.append(diagnosis)
            if self.format == .text, diagnosis.program != nil { try Output.prose(diagnosis.line) }
        }
        await stage.stop()
        if let ending {
            pintle_raise_default(ending)
            Glibc.exit(128 + ending)
        }
        switch self.format {
        case .text: try Output.prose(DoctorReport.text(diagnoses))
        case .json: try Output.data(DoctorReport.json(diagnoses))
        }
        if diagnoses.contains(where: \.hasObstacle) { throw CommandFailure(.found, lines: []) }
    }

    private func chosen() throws(CommandFailure) -> [DoctorClient] {
        guard !self.clients.isEmpty else { return DoctorClient.all }
        var chosen: [DoctorClient] = []
        for name in self.clients {
            guard let client = DoctorClient.all.first(where: { $0.name == name }) else {
                let names = DoctorClient.all.map(\.name)
                throw CommandFailure(
                    .usage,
                    "pintle doctor: \(name) is not known; known are \(names.joined(separator: ", "))"
                        + name.hint(of: names))
            }
            chosen.append(client)
        }
        return chosen
    }
}
