// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what a running proxy has done, and what it keeps.",
        discussion: "One line for the proxy, one for what it keeps, and one for each route that was used.")

    @Option(help: ArgumentHelp("The proxy's process, where several run.", valueName: "number"))
    var pid: Int?

    func run() throws {
        let lines = try RunningProxy(process: self.pid).ask(ControlRequest(command: .status)).lines
        try Output.prose(lines.joined(separator: "\n"))
    }
}
