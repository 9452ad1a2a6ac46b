// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what a running proxy is doing.",
        discussion: """
            The routes with their counters, every second, and below them the exchanges as they end, or those of them that a \
            filter chooses (docs/filters.md). q ends it.
            """)

    @Argument(help: "Which exchanges to show; all without it. Several arguments are read as one filter.")
    var filter: [String] = []

    @Flag(help: "Write the counters once, and end.")
    var once = false

    @Option(help: ArgumentHelp("The proxy's process, where several run.", valueName: "number"))
    var pid: Int?

    func validate() throws {
        guard !self.once || self.filter.isEmpty else {
            throw ValidationError("--once shows no exchanges, so it takes no filter.")
        }
    }

    func run() throws {
        let filter = try FilterArguments.joined(self.filter)
        let proxy = try RunningProxy(process: self.pid)
        if self.once {
            let table = TopTable(latest: try Self.sample(of: proxy), previous: nil)
            return try Output.data(table.lines(within: nil).joined(separator: "\n"))
        }
        guard let screen = TopScreen(environment: Inherited.environment) else {
            throw CommandFailure(.usage, "pintle top needs a terminal to draw on; --once writes the counters once")
        }
        var watch = try TopWatch(proxy, filter: filter, on: screen)
        try screen.take()
        defer { screen.giveBack() }
        try watch.run()
    }

    static func sample(of proxy: RunningProxy) throws(CommandFailure) -> TopTable.Sample {
        guard let reading = try proxy.ask(ControlRequest(command: .counters)).counters else {
            throw CommandFailure(.incomplete, "the proxy does not tell its counters; is it another version?")
        }
        return TopTable.Sample(reading: reading, moment: .now)
    }
}
