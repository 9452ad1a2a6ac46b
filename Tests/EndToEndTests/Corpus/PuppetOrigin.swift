// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// An origin that only records, until the test has it speak: what each side does is in one list of steps then, and
/// nothing depends on time.
final class PuppetOrigin: Sendable {
    private struct State: Sendable {
        /// Changes with everything that arrives.
        var arrivals = 0
        var ended: Set<Int> = []
        var toBeClosed: Set<Int> = []
        var toBeReset: Set<Int> = []
        var isStopped = false
    }

    private let server: ScriptedOrigin
    private let state: Watched<State>

    /// Where it listens, on 127.0.0.1.
    var port: Int { self.server.port }

    init() throws {
        let state = Watched(State())
        self.state = state
        self.server = try ScriptedOrigin { connection in
            state.change { $0.arrivals += 1 }
            while try connection.stream.fill() { state.change { $0.arrivals += 1 } }
            state.change { _ = $0.ended.insert(connection.number) }
            // Not closed before the test says so: another socket would get the number, and what the test sends here.
            let number = connection.number
            let end = try state.wait(for: "the test to end connection \(number) of its origin") {
                $0.isStopped || $0.toBeClosed.contains(number) || $0.toBeReset.contains(number)
            }
            if end.toBeReset.contains(number) { connection.stream.reset() }
        }
    }

    /// Ends everything, and waits for it.
    func stop() {
        self.state.change { $0.isStopped = true }
        self.server.stop()
    }

    /// How many connections were accepted.
    var connectionCount: Int { self.server.connections.count }

    /// What arrived on a connection and was not taken.
    func unread(on number: Int) -> [UInt8] { self.server.connections[number].unread }

    /// The first connection that has bytes which nobody has taken.
    var connectionWithUnread: Int? {
        self.server.connections.indices.first { !self.server.connections[$0].unread.isEmpty }
    }

    /// Waits until bytes are there that nobody has taken.
    ///
    /// - Returns: the number of the connection that has them.
    func waitForBytes(_ what: String) throws -> Int {
        while true {
            let before = self.state.current.arrivals
            if let number = self.connectionWithUnread { return number }
            try self.state.wait(for: "the origin to see \(what)") { $0.arrivals != before }
        }
    }

    /// Waits until a connection has received exactly `expected`, and takes it.
    ///
    /// - Throws: ``TestFailure`` as soon as something else is there.
    func take(_ expected: [UInt8], on number: Int) throws {
        let stream = self.server.connections[number]
        while true {
            let before = self.state.current
            let there = stream.unread
            if there.starts(with: expected) {
                _ = try stream.read(expected.count)
                return
            }
            guard expected.starts(with: there), !before.ended.contains(number) else {
                throw TestFailure("the origin saw:\n\(shown(there))\nand not:\n\(shown(expected))")
            }
            try self.state.wait(for: "the origin to see \(shown(expected))\nafter \(shown(there))\n") {
                $0.arrivals != before.arrivals || $0.ended.contains(number)
            }
        }
    }

    /// Waits until the peer has ended a connection.
    ///
    /// - Returns: what came before that and was not taken.
    func waitForEnd(of number: Int) throws -> [UInt8] {
        try self.state.wait(for: "connection \(number) of the origin to end") { $0.ended.contains(number) }
        let rest = self.unread(on: number)
        _ = try self.server.connections[number].read(rest.count)
        return rest
    }

    func send(_ bytes: [UInt8], on number: Int) throws { try self.server.connections[number].send(bytes) }

    /// Says on a connection that nothing more will be sent.
    func finishSending(on number: Int) { self.server.connections[number].finishSending() }

    /// Closes a connection; what was not read yet makes it a reset, as everywhere.
    func close(_ number: Int) {
        self.state.change { _ = $0.toBeClosed.insert(number) }
        self.server.connections[number].finishReading()
    }

    /// Breaks a connection.
    func reset(_ number: Int) {
        self.state.change { _ = $0.toBeReset.insert(number) }
        self.server.connections[number].finishReading()
    }
}
