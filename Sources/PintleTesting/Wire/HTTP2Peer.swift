// SPDX-License-Identifier: Apache-2.0

/// The server's end of a connection of HTTP/2 (RFC 9113) that does what a test says and nothing else: it takes requests
/// whole, and understands nothing of their fields.
package struct HTTP2Peer {
    /// A kind of frames (RFC 9113 §6).
    private enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case reset = 3
        case settings = 4
        case ping = 6
        case goAway = 7
    }

    /// Why a stream or a connection ends (RFC 9113 §7).
    package enum Code: UInt8, Sendable {
        case noError = 0
        case internalError = 2
        case refusedStream = 7
    }

    private static let endStream: UInt8 = 1
    private static let endHeaders: UInt8 = 4
    private static let acknowledgement: UInt8 = 1

    private let stream: SocketStream
    /// What came of requests that are not whole.
    private var bodies: [Int: [UInt8]] = [:]

    /// Greets a client, and takes its greeting.
    package init(_ stream: SocketStream) throws {
        self.stream = stream
        try self.send(.settings, on: 0, [])
        let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        guard try stream.read(greeting.count) == greeting else { throw TestFailure("the client speaks no HTTP/2") }
    }

    /// Takes the next request that is whole.
    package mutating func nextRequest() throws -> (stream: Int, body: [UInt8]) {
        while true {
            let head = try self.stream.read(9).map(Int.init)
            let payload = try self.stream.read(head[0] << 16 | head[1] << 8 | head[2])
            let (flags, number) = (UInt8(head[4]), head[5] << 24 | head[6] << 16 | head[7] << 8 | head[8])
            switch Kind(rawValue: UInt8(head[3])) {
            case .headers: self.bodies[number, default: []] += []
            case .data: self.bodies[number, default: []] += payload
            case .settings where flags & Self.acknowledgement == 0:
                try self.send(.settings, flags: Self.acknowledgement, on: 0, [])
                continue
            case .ping where flags & Self.acknowledgement == 0:
                try self.send(.ping, flags: Self.acknowledgement, on: 0, payload)
                continue
            case .settings, .ping, .reset, .goAway, .none: continue
            }
            guard flags & Self.endStream != 0, let body = self.bodies.removeValue(forKey: number) else { continue }
            return (number, body)
        }
    }

    /// Begins an answer: `:status` 200 and nothing else.
    package func begin(_ number: Int) throws { try self.send(.headers, flags: Self.endHeaders, on: number, [0x88]) }

    /// Answers a request.
    package func answer(_ number: Int, _ text: String) throws {
        try self.begin(number)
        try self.send(.data, flags: Self.endStream, on: number, Array(text.utf8))
    }

    /// Ends a stream (RST_STREAM).
    package func reset(_ number: Int, _ code: Code) throws {
        try self.send(.reset, on: number, Self.number(Int(code.rawValue)))
    }

    /// Says that streams above `last` were not looked at, and that no more are taken (GOAWAY).
    package func goAway(last: Int, _ code: Code = .noError) throws {
        try self.send(.goAway, on: 0, Self.number(last) + Self.number(Int(code.rawValue)))
    }

    private func send(_ kind: Kind, flags: UInt8 = 0, on number: Int, _ payload: [UInt8]) throws {
        try self.stream.send(
            Self.number(payload.count).dropFirst() + [kind.rawValue, flags] + Self.number(number) + payload)
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
