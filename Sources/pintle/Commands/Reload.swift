// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have a running proxy read its configuration file again.",
        discussion: """
            The file is read, checked and compiled whole before it takes effect, and what is under way ends under the old \
            one. Hosts that the proxy has met and trusts are judged by the new pins first, with the chains that they have \
            shown last; if one would be refused, nothing changes.
            """)

    @Flag(help: "Reload although hosts that work now would be refused.")
    var force = false

    @Flag(help: "Also connect to these hosts and judge what they show now.")
    var live = false

    @Option(help: ArgumentHelp("The proxy's process, where several run.", valueName: "number"))
    var pid: Int?

    func run() throws {
        let limit = self.live ? "looking up a host may take 10s, and so may its handshake" : RunningProxy.noLimit
        let lines = try RunningProxy(process: self.pid).ask(
            ControlRequest(command: .reload, force: self.force, live: self.live), limit: limit
        ).lines
        for line in lines { Output.error(line) }
    }
}
