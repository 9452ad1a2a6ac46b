// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// A running proxy of this user, as commands reach it.
struct RunningProxy {
    private let socket: String

    /// Finds the proxy.
    ///
    /// - Parameter process: the process number, needed if several proxies run.
    /// - Throws: an error if no proxy runs, or if several do and no number was given.
    init(process: Int?) throws(CommandFailure) {
        guard let folder = UserFile.socket.folder else {
            throw CommandFailure(.incomplete, "neither XDG_STATE_HOME nor HOME says where running proxies are found")
        }
        let files = try Self.names(in: folder)
        let place = { (process: Int32) in "\(folder)/\(UserFile.socket.name(ofProcess: process))" }
        let running = files.compactMap { UserFile.socket.process(ofName: $0) }.filter { process in
            // A proxy that died suddenly leaves its socket behind.
            if kill(process, 0) == 0 || errno == EPERM { return true }
            unlink(place(process))
            return false
        }
        if let process {
            guard let found = running.first(where: { Int($0) == process }) else {
                throw CommandFailure(.incomplete, "no proxy runs as process \(process), as far as \(folder) tells")
            }
            self.socket = place(found)
            return
        }
        guard let only = running.first else {
            throw CommandFailure(.incomplete, "no proxy runs, as far as \(folder) tells; start one with pintle serve")
        }
        guard running.count == 1 else {
            let list = running.sorted().map(String.init).joined(separator: ", ")
            throw CommandFailure(.usage, "several proxies run, as the processes \(list); choose one with --pid")
        }
        self.socket = place(only)
    }

    /// Returns the names in the folder of sockets. No other user may be able to create files there, because commands trust
    /// the proxies to which they lead.
    private static func names(in folder: String) throws(CommandFailure) -> [String] {
        do throws(UntrustedPlace) {
            let names = try TrustedFolder(folder)
            do throws(SystemError) { return try names.names().next(.max) } catch {
                throw UntrustedPlace(folder, error)
            }
        } catch {
            if error.system?.code == ENOENT { return [] }
            throw CommandFailure(.incomplete, "\(error)")
        }
    }

    /// Sends a request to the proxy.
    ///
    /// - Parameter limit: the words for the longest wait, told after a second; nil if the command has told it.
    /// - Returns: its answer.
    /// - Throws: an error if the proxy does not answer, or if it answers that the request failed.
    @discardableResult
    func ask(_ request: ControlRequest, limit: String? = Self.noLimit) throws(CommandFailure) -> ControlAnswer {
        try self.open(request, limit: limit).answer
    }

    /// A proxy answers most requests at once, unless its machine has no time for it.
    static let noLimit = "there is no limit, but Ctrl-C"

    /// Sends a request that the proxy answers with more than one message.
    ///
    /// - Throws: as ``ask(_:)`` does.
    func open(
        _ request: ControlRequest, limit: String? = Self.noLimit
    ) throws(CommandFailure) -> (answer: ControlAnswer, rest: ControlConnection) {
        let notice = limit.map { WaitNotice("waiting for the answer of the proxy at \(self.socket): \($0)") }
        defer { notice?.end() }
        let connection: ControlConnection
        do throws(ControlConnection.Failure) {
            connection = try ControlConnection(to: self.socket)
        } catch {
            throw CommandFailure(.incomplete, "the proxy at \(self.socket) does not answer: \(error)")
        }
        guard connection.send(request), let answer = connection.receive(ControlAnswer.self) else {
            throw CommandFailure(
                .incomplete, "the proxy at \(self.socket) does not answer: it ended before it answered")
        }
        guard answer.code == ProcessExit.success.rawValue else {
            throw CommandFailure(ProcessExit(rawValue: answer.code) ?? .incomplete, lines: answer.lines)
        }
        return (answer, connection)
    }
}
