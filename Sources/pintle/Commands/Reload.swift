// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation

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
        let socket = try self.socket()
        let answer: ControlAnswer
        do throws(ControlSocket.Failure) {
            answer = try ControlSocket.ask(
                ControlRequest(command: .reload, force: self.force, live: self.live), at: socket)
        } catch {
            throw CommandFailure(.incomplete, "the proxy at \(socket) does not answer: \(error)")
        }
        guard answer.code == ProcessExit.success.rawValue else {
            throw CommandFailure(ProcessExit(rawValue: answer.code) ?? .incomplete, lines: answer.lines)
        }
        for line in answer.lines { Output.error(line) }
    }

    /// The control socket of the proxy that is meant.
    private func socket() throws(CommandFailure) -> String {
        guard let folder = StateFolder.sockets else {
            throw CommandFailure(.incomplete, "neither XDG_STATE_HOME nor HOME says where running proxies are found")
        }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let running = files.compactMap { $0.hasSuffix(".sock") ? Int32($0.dropLast(5)) : nil }.filter { process in
            // One that died suddenly leaves its socket behind.
            if kill(process, 0) == 0 || errno == EPERM { return true }
            unlink("\(folder)/\(process).sock")
            return false
        }
        if let pid {
            guard running.contains(where: { Int($0) == pid }) else {
                throw CommandFailure(.incomplete, "no proxy runs as process \(pid), as far as \(folder) tells")
            }
            return "\(folder)/\(pid).sock"
        }
        guard let only = running.first else {
            throw CommandFailure(.incomplete, "no proxy runs, as far as \(folder) tells; start one with pintle serve")
        }
        guard running.count == 1 else {
            let list = running.sorted().map(String.init).joined(separator: ", ")
            throw CommandFailure(.usage, "several proxies run, as the processes \(list); choose one with --pid")
        }
        return "\(folder)/\(only).sock"
    }
}
