// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// A proxy of this user's that runs, as commands reach it.
struct RunningProxy {
    private let socket: String

    /// Finds the proxy that is meant.
    ///
    /// - Parameter process: its number, where several run.
    /// - Throws: where none runs, or several do and none was named.
    init(process: Int?) throws(CommandFailure) {
        guard let folder = StateFolder.sockets else {
            throw CommandFailure(.incomplete, "neither XDG_STATE_HOME nor HOME says where running proxies are found")
        }
        let files = FolderListing.names(in: folder, most: .max)
        let running = files.compactMap { $0.hasSuffix(".sock") ? Int32($0.dropLast(5)) : nil }.filter { process in
            // One that died suddenly leaves its socket behind.
            if kill(process, 0) == 0 || errno == EPERM { return true }
            unlink("\(folder)/\(process).sock")
            return false
        }
        if let process {
            guard running.contains(where: { Int($0) == process }) else {
                throw CommandFailure(.incomplete, "no proxy runs as process \(process), as far as \(folder) tells")
            }
            self.socket = "\(folder)/\(process).sock"
            return
        }
        guard let only = running.first else {
            throw CommandFailure(.incomplete, "no proxy runs, as far as \(folder) tells; start one with pintle serve")
        }
        guard running.count == 1 else {
            let list = running.sorted().map(String.init).joined(separator: ", ")
            throw CommandFailure(.usage, "several proxies run, as the processes \(list); choose one with --pid")
        }
        self.socket = "\(folder)/\(only).sock"
    }

    /// Asks it.
    ///
    /// - Returns: the lines of its answer.
    /// - Throws: where it does not answer, or its answer is that it has failed.
    func ask(_ request: ControlRequest) throws(CommandFailure) -> [String] {
        let answer: ControlAnswer
        do throws(ControlSocket.Failure) {
            answer = try ControlSocket.ask(request, at: self.socket)
        } catch {
            throw CommandFailure(.incomplete, "the proxy at \(self.socket) does not answer: \(error)")
        }
        guard answer.code == ProcessExit.success.rawValue else {
            throw CommandFailure(ProcessExit(rawValue: answer.code) ?? .incomplete, lines: answer.lines)
        }
        return answer.lines
    }
}
