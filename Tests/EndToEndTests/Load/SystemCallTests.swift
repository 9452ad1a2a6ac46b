// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The number of system calls for a request, counted by strace.
@Suite(.serialized, .enabled(if: CountedCalls.arePossible, "strace is not installed, or may not trace here"))
struct SystemCallTests {
    /// The request and its answer are each received and sent; calls that wait are not counted.
    private static let most = 4

    /// Clients that keep sending requests over kept connections.
    struct Load: Sendable, CustomTestStringConvertible {
        let connections: Int
        /// The number of clients that send at once; then as many others follow.
        let atOnce: Int

        var testDescription: String { "\(self.connections) connections, \(self.atOnce) at once" }
    }

    /// Starts a program, makes every client send `rounds` requests, and ends the program.
    ///
    /// - Returns: the number of the program's system calls, without those that wait.
    private func calls(_ load: Load, rounds: Int) throws -> CountedCalls {
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                connection.stream.forgetTaken()
                try connection.send(response("done"))
            }
        }
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(
            "engine: {threads: 1}", log: "{format: json, exchanges: off}", environment: ["PINTLE_TURN_LIMIT": "off"],
            tracedTo: "\(folder.path)/calls")
        let clients = try (0..<load.connections).map { _ in try pintle.connect() }
        for _ in 0..<rounds {
            for first in stride(from: 0, to: clients.count, by: load.atOnce) {
                let asking = clients[first..<first + load.atOnce]
                for client in asking { try client.send(get(origin.port)) }
                for client in asking {
                    guard try client.readResponse().text == "done" else { throw TestFailure(client.receivedText) }
                    client.forgetTaken()
                }
            }
        }
        #expect(origin.connections.count <= load.atOnce)
        for client in clients { client.close() }
        #expect(try pintle.stop() == 0)
        return try CountedCalls(file: "\(folder.path)/calls")
    }

    @Test(arguments: [
        Load(connections: 1, atOnce: 1), Load(connections: 64, atOnce: 32), Load(connections: 64, atOnce: 64),
    ])
    func `a small request over kept connections is four calls, and the waiting`(load: Load) throws {
        // The difference of two runs leaves out their beginning, their end, and the connections.
        let (few, many) = (10, 10 + 2560 / load.connections)
        let less = try self.calls(load, rounds: few)
        let more = try self.calls(load, rounds: many)
        let perRequest = Double(more.total - less.total) / Double((many - few) * load.connections)
        // A program that begins allocates and schedules a little differently each time.
        #expect(perRequest <= Double(Self.most) + 0.05, "\(more.more(than: less))")
    }
}

/// The calls of a program and its threads, as counted by strace.
struct CountedCalls: Sendable {
    /// The number of calls by name, without those that wait.
    let counts: [String: Int]

    var total: Int { self.counts.values.reduce(0, +) }

    /// True if strace is installed and may trace processes started here.
    static let arePossible: Bool = {
        guard let folder = try? TemporaryFolder(),
            let probe = try? ChildProcess(
                PintleProcess.tracer, PintleProcess.tracing(to: "\(folder.path)/calls") + ["/bin/true"]),
            (try? probe.waitForExit()) == 0
        else { return false }
        return (try? CountedCalls(file: "\(folder.path)/calls")) != nil
    }()

    /// Reads strace's table: shares, seconds, counts, errors and names, between two rules.
    init(file: String) throws {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        var counts: [String: Int] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count >= 5, let count = Int(words[3]), let name = words.last, name != "total" else { continue }
            if !name.hasPrefix("epoll_wait") && !name.hasPrefix("epoll_pwait") { counts[String(name)] = count }
        }
        guard !counts.isEmpty else { throw TestFailure("strace has counted nothing: \(lines)") }
        self.counts = counts
    }

    /// The counts beyond those of another program.
    func more(than other: CountedCalls) -> [String: Int] {
        self.counts.merging(other.counts) { $0 - $1 }.filter { $0.value != 0 }
    }
}
