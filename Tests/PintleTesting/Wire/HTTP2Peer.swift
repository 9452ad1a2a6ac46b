// SPDX-License-Identifier: Apache-2.0

/// The server's end of an HTTP/2 connection (RFC 9113) that does only what a test says: it takes whole requests, and does
/// not interpret their fields. Field blocks are encoded with HPACK (RFC 7541 §6).
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

    /// The reason for the end of a stream or a connection (RFC 9113 §7).
    package enum Code: UInt8, Sendable {
        case noError = 0
        case internalError = 2
        case refusedStream = 7
        case http11Required = 13
    }

    private static let endStream: UInt8 = 1
    private static let endHeaders: UInt8 = 4
    private static let acknowledgement: UInt8 = 1

    private let stream: SocketStream
    /// The blocks and bodies of requests that are not whole yet.
    private var requests: [Int: (block: [UInt8], body: [UInt8])] = [:]
    /// The number of answers to PING that have come.
    private var pongs = 0

    /// Sends the server's preface, and reads the client's.
    package init(_ stream: SocketStream) throws {
        self.stream = stream
        try self.send(.settings, on: 0, [])
        let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        guard try stream.read(greeting.count) == greeting else { throw TestFailure("the client speaks no HTTP/2") }
    }

    /// Takes the next whole request.
    package mutating func nextRequest() throws -> (stream: Int, body: [UInt8], block: [UInt8]) {
        while true { if let (number, request) = try self.takeFrame() { return (number, request.body, request.block) } }
    }

    /// Allows this many streams at a time (SETTINGS_MAX_CONCURRENT_STREAMS, RFC 9113 §6.5.2).
    package func allow(streams: Int) throws { try self.send(.settings, on: 0, [0, 3] + Self.number(streams)) }

    /// Waits until the client has processed everything that was sent.
    package mutating func settle() throws {
        let before = self.pongs
        try self.send(.ping, on: 0, Array(1...8))
        while self.pongs == before { _ = try self.takeFrame() }
    }

    /// - Returns: the request that this frame completes, if any.
    private mutating func takeFrame() throws -> (stream: Int, request: (block: [UInt8], body: [UInt8]))? {
        let head = try self.stream.read(9).map(Int.init)
        let payload = try self.stream.read(head[0] << 16 | head[1] << 8 | head[2])
        let (flags, number) = (UInt8(head[4]), head[5] << 24 | head[6] << 16 | head[7] << 8 | head[8])
        switch Kind(rawValue: UInt8(head[3])) {
        case .headers: self.requests[number, default: ([], [])].block += payload
        case .data: self.requests[number, default: ([], [])].body += payload
        case .settings where flags & Self.acknowledgement == 0:
            try self.send(.settings, flags: Self.acknowledgement, on: 0, [])
            return nil
        case .ping where flags & Self.acknowledgement == 0:
            try self.send(.ping, flags: Self.acknowledgement, on: 0, payload)
            return nil
        case .ping:
            self.pongs += 1
            return nil
        case .settings, .reset, .goAway, .none: return nil
        }
        guard flags & Self.endStream != 0 else { return nil }
        return self.requests.removeValue(forKey: number).map { (number, $0) }
    }

    /// Begins an answer, which has only `:status` 200 unless another block is given.
    package func begin(_ number: Int, _ block: [UInt8] = [0x88], endsStream: Bool = false) throws {
        try self.send(.headers, flags: Self.endHeaders | (endsStream ? Self.endStream : 0), on: number, block)
    }

    /// Answers a request.
    package func answer(_ number: Int, _ text: String, _ block: [UInt8] = [0x88]) throws {
        try self.begin(number, block)
        try self.send(.data, flags: Self.endStream, on: number, Array(text.utf8))
    }

    /// Ends a stream (RST_STREAM).
    package func reset(_ number: Int, _ code: Code) throws {
        try self.send(.reset, on: number, Self.number(Int(code.rawValue)))
    }

    /// Tells the client that streams above `last` were not processed, and that no more are accepted (GOAWAY).
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
