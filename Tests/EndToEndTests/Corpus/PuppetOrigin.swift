// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// An origin that only records until the test makes it send: so the actions of both sides are in one list of steps, and
/// nothing depends on time.
final class PuppetOrigin: Sendable {
    private struct State: Sendable {
        /// The connections, in the order in which their ways were opened.
        var streams: [SocketStream] = []
        var running = 0
        /// Changes with everything that arrives.
        var arrivals = 0
        var ended: Set<Int> = []
        var toBeClosed: Set<Int> = []
        var toBeReset: Set<Int> = []
        var isStopped = false
    }

    private let way: OriginWay
    private let server: RawOrigin
    private let state: Watched<State>
    private let parent: ParentPort?

    /// The port on which it listens, on 127.0.0.1.
    var port: Int { self.server.port }

    /// - Parameters:
    ///   - way: the way of the proxy to this origin.
    ///   - parent: the port at which the proxy arrives, unless it connects directly.
    init(by way: OriginWay = .straight, at parent: ParentPort? = nil) throws {
        let state = Watched(State())
        (self.way, self.state, self.parent) = (way, state, parent)
        self.server = try RawOrigin { connection in
            // Clients that use an upstream proxy must not connect here.
            if parent == nil { try Self.serve(connection.stream, by: way, state) }
        }
        parent?.lead { try Self.serve($0, by: way, state) }
    }

    private static func serve(_ stream: SocketStream, by way: OriginWay, _ state: Watched<State>) throws {
        state.change { $0.running += 1 }
        defer { state.change { $0.running -= 1 } }
        try way.open(stream)
        let number = state.change { state in
            state.streams.append(stream)
            state.arrivals += 1
            return state.streams.count - 1
        }
        while try stream.fill() { state.change { $0.arrivals += 1 } }
        state.change { _ = $0.ended.insert(number) }
        // Not closed before the test says so: another socket would get the number, and the bytes that the test sends here.
        let end = try state.wait(for: "the test to end connection \(number) of its origin") {
            $0.isStopped || $0.toBeClosed.contains(number) || $0.toBeReset.contains(number)
        }
        if end.toBeReset.contains(number) { stream.reset() } else { stream.close() }
    }

    /// Ends everything, and waits for it.
    func stop() {
        self.parent?.lead(nil)
        let state = self.state.change { state in
            state.isStopped = true
            return state
        }
        for stream in state.streams { stream.finishReading() }
        self.server.stop()
        _ = try? self.state.wait(for: "the connections of the origin to end") { $0.running == 0 }
    }

    /// The number of connections that were accepted and, if their way needs it, opened.
    var connectionCount: Int { self.state.current.streams.count }

    private func stream(_ number: Int) -> SocketStream { self.state.current.streams[number] }

    /// Bytes that arrived on a connection and were not taken.
    func unread(on number: Int) -> [UInt8] { self.stream(number).unread }

    /// The first connection that has bytes which were not taken.
    var connectionWithUnread: Int? {
        self.state.current.streams.firstIndex { !$0.unread.isEmpty }
    }

    /// Waits for bytes that were not taken.
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
        let stream = self.stream(number)
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

    /// Waits until a whole request has arrived on a connection, however it is framed and whatever its fields are, and takes
    /// it.
    func takeRequest(on number: Int) throws -> Message {
        let stream = self.stream(number)
        while true {
            let before = self.state.current
            let there = stream.unread
            if let end = there.firstRange(of: Array("\r\n\r\n".utf8)) {
                let text = String(decoding: there[..<end.lowerBound], as: UTF8.self)
                let head = MessageHead(lines: text.split(separator: "\r\n").map(String.init))
                let length = head["Content-Length"].flatMap { Int($0) } ?? 0
                if there.count >= end.upperBound + length { return try stream.readRequest() }
            }
            guard !before.ended.contains(number) else { throw TestFailure("the origin saw:\n\(shown(there))") }
            try self.state.wait(for: "the origin to see the rest of\n\(shown(there))\n") {
                $0.arrivals != before.arrivals || $0.ended.contains(number)
            }
        }
    }

    /// Waits until the peer has ended a connection.
    ///
    /// - Returns: bytes that came before the end and were not taken.
    func waitForEnd(of number: Int) throws -> [UInt8] {
        try self.state.wait(for: "connection \(number) of the origin to end") { $0.ended.contains(number) }
        let rest = self.unread(on: number)
        _ = try self.stream(number).read(rest.count)
        return rest
    }

    func send(_ bytes: [UInt8], on number: Int) throws { try self.stream(number).send(bytes) }

    /// Says on a connection that nothing more will be sent.
    func finishSending(on number: Int) { self.stream(number).finishSending() }

    /// Closes a connection; unread bytes turn this into a reset, as usual.
    func close(_ number: Int) {
        self.state.change { _ = $0.toBeClosed.insert(number) }
        self.stream(number).finishReading()
    }

    /// Breaks a connection.
    func reset(_ number: Int) {
        self.state.change { _ = $0.toBeReset.insert(number) }
        self.stream(number).finishReading()
    }
}
