// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleCache

struct Purge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Drop answers that a running proxy keeps.",
        discussion: """
            Answers in memory and on disk are gone when the command returns. What is on its way to a client arrives, and is \
            not kept. Exit code 0 when answers went, 1 when there were none that are meant.
            """)

    @Argument(help: "The URL whose answers go, as the origin is asked for it.")
    var url: String?

    @Option(help: ArgumentHelp("The beginning of the URLs whose answers go.", valueName: "URL"))
    var prefix: String?

    @Option(
        help: ArgumentHelp("The surrogate key (Cache-Tag, Surrogate-Key) of the answers that go.", valueName: "key"))
    var tag: String?

    @Flag(help: "Drop all answers.")
    var all = false

    @Option(help: ArgumentHelp("The proxy's process, where several run.", valueName: "number"))
    var pid: Int?

    func validate() throws {
        let given = [self.url != nil, self.prefix != nil, self.tag != nil, self.all].filter { $0 }.count
        guard given > 0 else { throw ValidationError("Say what goes: a URL, --prefix, --tag or --all.") }
        guard given == 1 else { throw ValidationError("Say one thing that goes: a URL, --prefix, --tag or --all.") }
    }

    func run() throws {
        let lines = try RunningProxy(process: self.pid).ask(ControlRequest(command: .purge, purge: self.selection()))
            .lines
        for line in lines { Output.error(line) }
    }

    private func selection() throws(CommandFailure) -> ControlRequest.Purge {
        if let url {
            guard case .url(let key)? = CacheSelection(url: url) else {
                throw CommandFailure(.usage, "\(url) is no http or https URL")
            }
            return .url(key)
        }
        if let prefix, case .prefix(let beginning) = CacheSelection(prefix: prefix) { return .prefix(beginning) }
        if let tag { return .tag(tag) }
        return .all
    }
}
