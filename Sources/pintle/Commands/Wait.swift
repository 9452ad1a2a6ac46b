// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy

struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Return once no exchange of a running proxy has been active for some time.",
        discussion: """
            For scripts and tests: start what makes requests, then wait for its last answer. The time counts from the start of \
            this command, or from the end of the last exchange if that is later. A tunnel is active as long as it is open.

            Exit code 0 when it was quiet for that long, 1 when --timeout has passed before.
            """)

    @Option(help: ArgumentHelp("How long it has to be quiet, as in 500ms or 2s.", valueName: "time"))
    var idle: String

    @Option(help: ArgumentHelp("The longest wait. Without it, there is no limit.", valueName: "time"))
    var timeout: String?

    @Option(help: ArgumentHelp("The proxy's process, where several run.", valueName: "number"))
    var pid: Int?

    func run() throws {
        let wait = ControlRequest.Wait(
            idle: try Self.time(self.idle, "--idle"), timeout: try self.timeout.map { try Self.time($0, "--timeout") })
        if let timeout = wait.timeout, timeout < wait.idle {
            throw CommandFailure(.usage, "--timeout is shorter than --idle, and would always pass first")
        }
        let proxy = try RunningProxy(process: self.pid)
        let limit = wait.timeout.map { "for at most \($0.spelled)" } ?? "without a limit"
        Output.error("waiting until no exchange has been active for \(wait.idle.spelled), \(limit)")
        try proxy.ask(ControlRequest(command: .wait, wait: wait), limit: nil)
    }

    private static func time(_ text: String, _ option: String) throws -> Duration {
        do throws(Malformed) {
            return try Spelling.duration(text, .zero ... .seconds(86_400))
        } catch {
            throw CommandFailure(.usage, "\(option) \(error)")
        }
    }
}
