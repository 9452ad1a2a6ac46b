// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// The built binary, serving on a free port with a test's configuration.
///
/// It logs in JSON, and writes its exchange lines to its standard output, where the test can wait for them.
package final class PintleProcess: Sendable {
    /// The port on which it listens, on 127.0.0.1.
    package let port: Int
    /// The port on which it listens, then those of the listeners in its arguments.
    package let ports: [Int]
    package let process: ChildProcess
    private let folder: TemporaryFolder

    /// The program under test: the one that `PINTLE_PROGRAM` names (`scripts/test` names the release build), or else the
    /// one that was built together with the tests.
    ///
    /// The two differ in more than speed: the release build has the Swift runtime and Foundation linked into it.
    package static let binary = PintleProcess.given ?? "\(PintleProcess.products)/pintle"

    /// True if ``binary`` is the program that `PINTLE_PROGRAM` names.
    package static var isGiven: Bool { PintleProcess.given != nil }

    private static let given: String? = {
        let path = ProcessInfo.processInfo.environment["PINTLE_PROGRAM"] ?? ""
        return path.isEmpty ? nil : path
    }()

    /// The folder of the products that were built together with the tests.
    package static let products: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().path
    }()

    /// Starts `pintle serve` and waits until it reports that it is ready.
    ///
    /// - Parameters:
    ///   - configuration: YAML without `version` and `log`; relative paths are relative to `folder`.
    ///   - log: the section `log`.
    ///   - environment: variables in addition to those that it always has.
    ///   - descriptors: its limit on open files; the test's own unless given.
    ///   - processors: the processors it may run on, as taskset(1) lists them; the test's own unless given.
    ///   - file: the file into which strace writes the number of its system calls, complete once the process has ended.
    ///   - network: the network that it runs in; the test's own network unless given.
    ///   - launcher: a command that prepares an environment and executes its remaining arguments in it.
    package init(
        _ configuration: String = "", log: String = "{format: json, exchanges: \"-\"}", arguments: [String] = [],
        environment: [String: String] = [:], folder: TemporaryFolder? = nil, descriptors: Int? = nil,
        processors: String? = nil, tracedTo file: String? = nil, in network: NetworkNamespace? = nil,
        by launcher: [String] = []
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        let settings = try folder.write("version: 1\nlog: \(log)\n\(configuration)\n", to: "pintle.yaml")
        let portFile = "\(folder.path)/port"
        self.folder = folder
        var command =
            [Self.binary, "serve", "-c", settings, "--listen", "127.0.0.1:0", "--port-file", portFile] + arguments
        if let descriptors { command = ["/usr/bin/prlimit", "--nofile=\(descriptors)"] + command }
        if let file { command = [Self.tracer] + Self.tracing(to: file) + command }
        if let processors { command = ["/usr/bin/taskset", "--cpu-list", processors] + command }
        command = launcher + command
        self.process = try ChildProcess(
            command[0], Array(command.dropFirst()),
            environment: Self.sanitizerOptions.merging(environment) { $1 }.merging(
                ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "XDG_STATE_HOME": folder.path],
                uniquingKeysWith: { own, _ in own }),
            in: network)
        do {
            try self.process.waitForLine("the ready line") { $0.contains("listening") }
        } catch {
            throw TestFailure("\(error)\nconfiguration:\n\(configuration)")
        }
        let text = try String(contentsOfFile: portFile, encoding: .utf8)
        self.ports = text.split(separator: "\n").compactMap { Int($0) }
        guard let port = self.ports.first else { throw TestFailure("the port file says \"\(text)\"") }
        self.port = port
    }

    /// Runs a command of the binary to its end.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
    ) throws -> ChildProcess {
        let process = try ChildProcess(Self.binary, arguments, environment: environment, folder: folder)
        try process.waitForExit()
        return process
    }

    /// Opens a new connection to it.
    package func connect(receiveBuffer: Int32? = nil) throws -> SocketStream {
        try SocketStream(port: self.port, receiveBuffer: receiveBuffer)
    }

    // MARK: Tracing

    package static let tracer = "/usr/bin/strace"

    /// The arguments of strace before the command that it starts: count the calls of all threads, and do not become the
    /// parent of the command, so that signals reach it.
    package static func tracing(to file: String) -> [String] { ["-D", "-f", "-qq", "-c", "-o", file] }

    // MARK: Log lines

    /// A line of its output as JSON.
    package typealias Object = [String: any Sendable]

    /// The lines of finished exchanges, in order.
    package var exchanges: [Object] { Self.exchanges(in: self.process.lines.map(\.text)) }

    /// Waits until this many exchanges have finished.
    @discardableResult
    package func waitForExchanges(_ count: Int) throws -> [Object] {
        Self.exchanges(in: try self.process.waitForLines(count, "\(count) exchanges") { Self.isExchange($0) })
    }

    /// Waits until this many lines with this message were logged, and returns them.
    @discardableResult
    package func waitForMessages(_ message: String, _ count: Int = 1) throws -> [Object] {
        try self.process.waitForLines(count, message) { $0.contains("\"message\":\"\(message)\"") }.map(Self.object)
    }

    /// Asks for the counters and waits for them. Those missing in the line are zero.
    package func counters() throws -> Object {
        let before = self.process.lines.count { $0.text.contains("\"message\":\"activity.counters\"") }
        self.process.signal(SIGUSR1)
        let line = try self.waitForMessages("activity.counters", before + 1).last ?? [:]
        let zero = [
            "active", "completed", "failed", "cancelled", "bytes_up", "bytes_down", "tunnels_active", "held_bytes",
            "held_bytes_peak", "held_bytes_refused",
        ]
        return line.merging(zero.map { ($0, 0) }) { counted, _ in counted }
    }

    /// Asks for the counters until one of them has a value; a test cannot wait for the change of a counter.
    package func waitForCounter(_ name: String, _ value: Int) throws {
        var last: Any?
        try Patience.wait(for: "\(name) to be \(value); it is \(last ?? "missing")") {
            last = try self.counters()[name]
            return last as? Int == value
        }
    }

    /// The lines about turns of an engine thread that took too long; a debug build checks all turns.
    package var slowTurns: [String] {
        self.process.lines.map(\.text).filter { $0.contains("\"message\":\"loop.slow_turn\"") }
    }

    private static func isExchange(_ line: String) -> Bool {
        line.contains("\"id\":") && !line.contains("\"message\":")
    }

    private static func exchanges(in lines: [String]) -> [Object] { lines.filter(Self.isExchange).map(Self.object) }

    private static func object(_ line: String) -> Object {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? Object ?? [:]
    }

    // MARK: Resources

    /// A value of /proc/PID/status in KiB, such as `VmRSS` or `VmHWM`.
    package func memory(_ key: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(self.process.pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") } ?? ""
        guard let value = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
        else { throw TestFailure("no \(key) in the status of process \(self.process.pid)") }
        return value
    }

    /// The processor time that it has used, in hundredths of a second.
    package func processorTicks() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(self.process.pid)/stat", encoding: .utf8)
        // The name before the values may have spaces, but it ends with the last parenthesis.
        let values = text.split(separator: ")").last?.split(separator: " ").compactMap { Int($0) } ?? []
        guard values.count > 11 else { throw TestFailure("/proc says \(text)") }
        return values[10] + values[11]
    }

    /// The targets of its open descriptors, by number.
    package func openFiles() throws -> [Int: String] {
        let folder = "/proc/\(self.process.pid)/fd"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        // Some descriptors are closed before they are looked at.
        let files = names.compactMap { name -> (Int, String)? in
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            else { return nil }
            return Int(name).map { ($0, target) }
        }
        return Dictionary(files) { first, _ in first }
    }

    /// The number of its open descriptors.
    package func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(self.process.pid)/fd").count
    }

    /// Asks it to stop, and waits.
    ///
    /// - Returns: the exit code.
    /// - Throws: ``TestFailure`` with the first lines of a sanitizer's report on it.
    @discardableResult
    package func stop() throws -> Int32 {
        self.process.signal(SIGTERM)
        let code = try self.process.waitForExit()
        let errors = self.process.errors
        if let start = errors.firstIndex(where: { $0.contains("Sanitizer") || $0.contains(": runtime error: ") }) {
            throw TestFailure("a sanitizer reports:\n\(errors[start...].prefix(60).joined(separator: "\n"))")
        }
        return code
    }

    /// The sanitizer options of this process; the tested binary, built with the same sanitizer, gets them as well.
    private static let sanitizerOptions = ProcessInfo.processInfo.environment.filter {
        ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"].contains($0.key)
    }
}
