// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A process that a test started: its output is read as it comes, and it is killed when the object goes.
package final class ChildProcess: Sendable {
    /// One line of output.
    package struct Line: Sendable, Equatable {
        package let text: String
        /// True if the line came on standard error.
        package let isError: Bool
    }

    fileprivate struct State: Sendable {
        var lines: [Line] = []
        var partial: [Bool: [UInt8]] = [false: [], true: []]
        var exit: Int32?
    }

    package let pid: Int32
    private let name: String
    private let state: Watched<State>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - environment: the whole environment; nothing is inherited.
    ///   - folder: the working directory; the test's own unless given.
    ///   - network: the network that it runs in; the test's own network unless given.
    package init(
        _ path: String, _ arguments: [String] = [],
        environment: [String: String] = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
        folder: String? = nil, in network: NetworkNamespace? = nil
    ) throws {
        var outputs: [(read: Int32, write: Int32)] = []
        for _ in 0..<2 {
            // Made with close-on-exec, unlike a pipe: another child that starts meanwhile must not keep it open.
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                throw TestFailure("socketpair: errno \(errno)")
            }
            outputs.append((ends[0], ends[1]))
        }
        defer { for output in outputs { close(output.write) } }
        var moved = folder.map { ("/usr/bin/env", ["--chdir=\($0)", path] + arguments) } ?? (path, arguments)
        if let network { moved = network.command(moved.0, moved.1) }
        self.pid = try Self.spawn(moved.0, moved.1, environment, outputs.map(\.write))
        self.name = path
        let state = Watched(State())
        self.state = state
        let (pid, sources) = (self.pid, outputs.map(\.read))
        Thread.detachNewThread { Self.follow(pid, sources, state) }
    }

    deinit {
        if self.exitCode == nil {
            kill(self.pid, SIGKILL)
            _ = try? self.waitForExit()
        }
    }

    // MARK: Watching

    /// All complete lines so far.
    package var lines: [Line] { self.state.current.lines }

    /// Standard output so far, whole lines.
    package var output: [String] { self.lines.filter { !$0.isError }.map(\.text) }

    /// Standard error so far, whole lines.
    package var errors: [String] { self.lines.filter(\.isError).map(\.text) }

    /// The exit code; 128 plus the signal for a killed process; nil while it runs.
    package var exitCode: Int32? { self.state.current.exit }

    /// Waits for a line, on either output.
    ///
    /// - Throws: ``TestFailure`` if the process ends first.
    @discardableResult
    package func waitForLine(_ what: String, where matches: (String) -> Bool) throws -> String {
        try self.waitForLines(1, what, where: matches)[0]
    }

    /// Waits for `count` lines that match, on either output.
    @discardableResult
    package func waitForLines(_ count: Int, _ what: String, where matches: (String) -> Bool) throws -> [String] {
        func found(_ state: State) -> [String] { state.lines.map(\.text).filter(matches) }
        let state = try self.state.wait(for: "\(self.name): \(what)") {
            $0.exit != nil || found($0).count >= count
        }
        guard found(state).count >= count else {
            let all = state.lines.map(\.text).joined(separator: "\n")
            throw TestFailure("\(self.name) exited with \(state.exit ?? -1) before: \(what)\n\(all)")
        }
        return found(state)
    }

    /// Waits for the end, after which all output has been read.
    @discardableResult
    package func waitForExit(seconds: Double = Patience.seconds) throws -> Int32 {
        let state = try self.state.wait(for: "\(self.name) to exit", seconds: seconds) { $0.exit != nil }
        return state.exit ?? -1
    }

    /// Waits for the end as ``waitForExit(seconds:)`` does, without blocking a thread of Swift's tasks.
    package func exit(within seconds: Double = Patience.seconds) async throws -> Int32 {
        try await self.state.reach("\(self.name) to exit", seconds: seconds) { $0.exit != nil }.exit ?? -1
    }

    /// Sends a signal.
    package func signal(_ number: Int32) {
        // A process that is gone gets no signal: its id may belong to another by now.
        if self.exitCode == nil { kill(self.pid, number) }
    }

    // MARK: Inside

    private static func follow(_ pid: Int32, _ sources: [Int32], _ state: Watched<State>) {
        var queries = sources.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var space = [UInt8](repeating: 0, count: 64 * 1024)
        while queries.contains(where: { $0.fd >= 0 }) {
            guard poll(&queries, nfds_t(queries.count), -1) > 0 else { continue }
            for index in queries.indices where queries[index].fd >= 0 && queries[index].revents != 0 {
                let count = read(queries[index].fd, &space, space.count)
                if count > 0 {
                    state.change { $0.take(space[..<count], isError: index == 1) }
                } else {
                    close(queries[index].fd)
                    queries[index].fd = -1
                }
            }
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        state.change {
            $0.endLines()
            $0.exit = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ outputs: [Int32]
    ) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, outputs[0], 1)
        posix_spawn_file_actions_adddup2(&actions, outputs[1], 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A signal that this process ignores would be ignored by the child, too.
        var defaults = sigset_t()
        sigfillset(&defaults)
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &unblocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let texts = { (list: [String]) in list.map { strdup($0) } + [nil] }
        let (words, variables) = (texts([path] + arguments), texts(environment.map { "\($0)=\($1)" }))
        defer { for text in words + variables { free(text) } }
        self.closeAllOnExec()
        var pid: Int32 = 0
        let code = posix_spawn(&pid, path, &actions, &attributes, words, variables)
        guard code == 0 else { throw TestFailure("\(path) cannot be started: errno \(code)") }
        return pid
    }

    /// Keeps a child from inheriting descriptors of other tests: they would count towards its limit on open files, and stay
    /// open.
    private static func closeAllOnExec() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for descriptor in names.compactMap({ Int32($0) }) where descriptor > 2 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }
}

extension ChildProcess.State {
    fileprivate mutating func take(_ bytes: ArraySlice<UInt8>, isError: Bool) {
        var partial = self.partial[isError] ?? []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                self.lines.append(.init(text: String(decoding: partial, as: UTF8.self), isError: isError))
                partial.removeAll(keepingCapacity: true)
            } else {
                partial.append(byte)
            }
        }
        self.partial[isError] = partial
    }

    fileprivate mutating func endLines() {
        for (isError, rest) in self.partial where !rest.isEmpty {
            self.lines.append(.init(text: String(decoding: rest, as: UTF8.self), isError: isError))
        }
        self.partial = [:]
    }
}
