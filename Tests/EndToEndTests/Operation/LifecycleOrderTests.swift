// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// The parts of `pintle serve` in the order in which they start and stop, by its log at the level `trace`.
struct LifecycleOrderTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private static let parts = [
        "signals", "exchangeLog", "engine", "activity", "reachability", "sessions", "askWebhook", "listeners",
        "signalRequests", "listRefresh", "fileWatch", "controlSocket", "diskCache", "watchdog",
    ]
    private static let usual = parts.filter { !["fileWatch", "watchdog"].contains($0) }
    private static let log = "{format: json, level: trace, exchanges: \"-\"}"

    private static func parts(_ event: String, in lines: [String]) -> [String] {
        lines.compactMap { line in
            guard line.contains("\"message\":\"part \(event)\""), let match = line.firstMatch(of: /"part":"(\w+)"/)
            else { return nil }
            return String(match.output.1)
        }
    }

    /// Expects that exactly these parts have started, and have stopped in reverse.
    private static func expect(_ parts: [String], in process: ChildProcess) {
        let lines = process.lines.map(\.text)
        #expect(self.parts("started", in: lines) == parts, "\(lines)")
        #expect(self.parts("stopped", in: lines) == parts.reversed(), "\(lines)")
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        let message: String
        let code: Int32
        /// The number of parts that have started before.
        let started: Int
        var log = LifecycleOrderTests.log
        var configuration = ""
        var arguments: [String] = []
        var environment: [String: String] = [:]
        var testDescription: String { self.message }
    }

    @Test(arguments: [
        Failure(
            message: "log.exchanges: cannot open the exchange log /nowhere/x", code: 4, started: 1,
            log: "{format: json, level: trace, exchanges: /nowhere/x}"),
        Failure(message: "PINTLE_TURN_LIMIT=soon", code: 2, started: 2, environment: ["PINTLE_TURN_LIMIT": "soon"]),
        Failure(message: "pintle ca init", code: 4, started: 5, configuration: "interception: {hosts: [a.test]}"),
        Failure(
            message: "--port-file /nowhere/port cannot be written", code: 4, started: 12,
            arguments: ["--port-file", "/nowhere/port"]),
    ])
    func `a start that fails stops what it has started, in reverse`(failure: Failure) throws {
        let path = "\(self.folder.path)/proxy.sock"
        let process = try self.start(failure, listen: "unix:\(path)")
        #expect(try process.waitForExit() == failure.code, "\(process.lines)")
        #expect(process.errors.contains { $0.contains(failure.message) }, "\(process.lines)")
        Self.expect(Array(Self.usual.prefix(failure.started)), in: process)
        #expect(!FileManager.default.fileExists(atPath: path), "the file of a socket goes with its listener")
        #expect(try self.controlSockets().isEmpty)
    }

    @Test func `a start without its address stops what it has started, in reverse`() throws {
        let other = try RawOrigin(answering: response("other"))
        let message = "cannot listen on 127.0.0.1:\(other.port)"
        let process = try self.start(
            Failure(message: message, code: 4, started: 7), listen: "127.0.0.1:\(other.port)")
        #expect(try process.waitForExit() == 4, "\(process.lines)")
        #expect(process.errors.contains { $0.contains(message) }, "\(process.lines)")
        Self.expect(Array(Self.usual.prefix(7)), in: process)
    }

    private func start(_ failure: Failure, listen: String) throws -> ChildProcess {
        try self.folder.write("version: 1\nlog: \(failure.log)\n\(failure.configuration)\n", to: "pintle.yaml")
        return try ChildProcess(
            PintleProcess.binary,
            ["serve", "-c", "\(self.folder.path)/pintle.yaml", "--listen", listen] + failure.arguments,
            environment: failure.environment.merging(
                ["XDG_STATE_HOME": self.folder.path, "XDG_DATA_HOME": self.folder.path]) { $1 })
    }

    private func controlSockets() throws -> [String] {
        let folder = "\(self.folder.path)/pintle/run"
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    @Test func `a signal drains the proxy, and then stops all parts in reverse`() throws {
        let manager = try NotifySocket("\(self.folder.path)/notify")
        let pintle = try PintleProcess(
            "", log: Self.log, arguments: ["--watch"],
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "60000000"], folder: self.folder)
        #expect(try self.controlSockets().count == 1)
        #expect(try pintle.stop() == 0)
        Self.expect(Self.parts, in: pintle.process)
        let lines = pintle.process.errors
        let draining = try #require(lines.firstIndex { $0.contains("\"message\":\"draining\"") })
        let first = try #require(lines.firstIndex { $0.contains("\"message\":\"part stopped\"") })
        let stopped = try #require(lines.firstIndex { $0.contains("\"message\":\"stopped\"") })
        #expect(draining < first && stopped == lines.count - 1, "\(lines)")
        #expect(try self.controlSockets().isEmpty)
    }

    // MARK: Parts that are missing

    private static let missing =
        "there is no control socket, so `pintle reload`, `status`, `purge`, `tail`, `top` and `wait` do not reach"

    @Test func `without folders for its state the proxy serves, and says so`() throws {
        let file = try self.folder.write("", to: "file")
        let pintle = try PintleProcess(
            "routes: [{name: kept, cache: {policy: protocol}}]", log: Self.log, environment: ["XDG_STATE_HOME": file],
            folder: self.folder)
        let lines = pintle.process.errors
        #expect(lines.contains { $0.contains("\(Self.missing) this proxy: \(file)") }, "\(lines)")
        #expect(lines.contains { $0.contains("answers are kept in memory alone: \(file)") }, "\(lines)")
        let origin = try RawOrigin(answering: response("done"))
        #expect(try pintle.ask(get(origin.port)).text == "done")
        #expect(try pintle.stop() == 0)
        Self.expect(Self.usual.filter { $0 != "controlSocket" }, in: pintle.process)
    }

    /// True if a process may have its own file systems on this machine.
    private static let hasMounts: Bool = {
        let process = try? ChildProcess("/usr/bin/unshare", ["-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        return (try? process?.waitForExit()) == 0
    }()

    @Test(
        .enabled(if: Self.hasMounts, "needs unshare(1) and the right to mount a tmpfs in a user namespace"),
        arguments: [("nr_inodes=1", "no space left on the device"), ("ro", "the file system is read-only")])
    func `a disk for state that is full or read-only is named, with what to do`(
        options: String, reason: String
    ) throws {
        let state = try TemporaryFolder()
        let mount = "mount -t tmpfs -o \(options) tmpfs \"$0\" && exec \"$@\""
        let pintle = try PintleProcess(
            "", environment: ["XDG_STATE_HOME": state.path], folder: self.folder,
            by: ["/usr/bin/unshare", "-Urm", "/bin/sh", "-c", mount, state.path])
        let warning = try #require(pintle.process.errors.first { $0.contains(Self.missing) })
        #expect(warning.contains("\(state.path)/pintle") && warning.contains(reason), "\(warning)")
        #expect(warning.contains("set XDG_STATE_HOME to another folder, and restart; SIGHUP still reloads"))
        #expect(try pintle.stop() == 0)
    }
}
