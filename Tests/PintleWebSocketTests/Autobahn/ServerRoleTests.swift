// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleTesting
import PintleWebSocket
import Testing

/// The cases of ``ClientRoleTests`` against a server that echoes every message, which is a machine without a socket.
@Suite struct ServerRoleTests {
    @Test(arguments: ClientRoleTests.cases)
    func `a server that echoes does as a case demands`(test: AutobahnCase) throws {
        var server = EchoServer()
        for step in test.steps {
            switch step {
            case .send(let frames, let pieces): server.receive(frames.flatMap(\.maskedBytes), inPiecesOf: pieces)
            case .part(let frame, let range):
                let bytes = frame.maskedBytes
                let start = bytes.count - frame.payload.count
                server.receive(
                    Array(bytes[(range.lowerBound == 0 ? 0 : start + range.lowerBound)..<(start + range.upperBound)]))
            case .await(let count): #expect(server.outcome.replies.count == count, "\(test.number)")
            }
            if case .part(_, let range) = step, range.lowerBound == 0 {
                #expect(server.outcome.close == nil, "what has come is valid")
            }
        }
        if case .byPeer = test.ending { server.receive(WebSocketPeer.Frame.close(1000).maskedBytes) }
        server.outcome.check(test)
    }

    @Test(arguments: SizeCases.roundTrips)
    func `a server echoes message after message`(test: RoundTrips) {
        var server = EchoServer()
        for _ in 0..<test.count { server.receive(test.frame.maskedBytes) }
        #expect(server.outcome.replies == Array(repeating: test.frame, count: test.count))
    }

    @Test(arguments: CompressionCase.all)
    func `a server echoes compressed messages`(test: CompressionCase) throws {
        let handshake = ServerHandshake(compression: WebSocketCompression())
        let request = RequestHead(
            method: "GET", target: .origin(path: "/"),
            fields: [
                "Host": "x", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": WebSocketWire.key, "Sec-WebSocket-Extensions": test.agreement.offer,
            ])
        let agreement = try handshake.answer(to: request).agreement
        let parameters = try #require(agreement.compression)
        #expect(parameters.serverNoContextTakeover == test.agreement.serverForgets)
        #expect(parameters.serverMaxWindowBits == test.agreement.serverBits)
        var server = EchoServer(parameters)
        // Autobahn's offers always name client_no_context_takeover, so the server holds the client to it.
        let deflating = try DeflatingPeer(
            own: (15, true), others: (test.agreement.serverBits, test.agreement.serverForgets))
        for (index, message) in test.messages.enumerated() {
            server.receive(
                deflating.frames(of: message, isText: test.isText, fragment: test.fragment).flatMap(\.maskedBytes))
            let echo = try #require(server.outcome.replies.count == index + 1 ? server.outcome.replies.last : nil)
            #expect(echo.opcode == (test.isText ? 1 : 2))
            let plain = echo.reserved == 4 ? try deflating.inflated(echo.payload) : echo.payload
            #expect(plain == message, "\(test.number)")
        }
    }
}

/// A server's machine that sends every message back.
struct EchoServer: ~Copyable {
    private var machine: WebSocketMachine
    private var input = ByteBuffer()
    private(set) var outcome = AutobahnOutcome()

    init(_ compression: DeflateParameters? = nil) {
        self.machine = WebSocketMachine(role: .server, compression: compression)
    }

    /// Takes bytes, in one piece or in pieces of `size`.
    mutating func receive(_ bytes: [UInt8], inPiecesOf size: Int? = nil) {
        let size = size ?? max(1, bytes.count)
        for start in stride(from: 0, to: bytes.count, by: size) {
            self.input.writeBytes(bytes[start..<min(start + size, bytes.count)])
            var output = ByteBuffer()
            var budget = 1000
            repeat {
                budget = 1000
                while let event = self.machine.next(&self.input, budget: &budget) {
                    self.machine.answer(event, into: &output)
                    if case .message(let message) = event { self.machine.write(message, into: &output) }
                }
            } while budget <= 0
            for frame in frames(in: output) { self.outcome.take(frame) }
        }
        self.input.discardReadBytes()
    }
}

/// The frames that bytes consist of.
func frames(in bytes: ByteBuffer) -> [WebSocketPeer.Frame] {
    var bytes = bytes
    var frames: [WebSocketPeer.Frame] = []
    while let (first, second) = bytes.readMultipleIntegers(as: (UInt8, UInt8).self) {
        let count =
            switch second & 0x7F {
            case 126: Int(bytes.readInteger(as: UInt16.self) ?? 0)
            case 127: Int(bytes.readInteger(as: UInt64.self) ?? 0)
            case let short: Int(short)
            }
        let mask = second & 0x80 == 0 ? [] : bytes.readBytes(length: 4) ?? []
        let payload = WebSocketPeer.Frame.masked(bytes.readBytes(length: count) ?? [], mask)
        frames.append(
            WebSocketPeer.Frame(
                first & 0x0F, payload, isFinal: first & 0x80 != 0, reserved: first >> 4 & 7, mask: mask))
    }
    return frames
}

extension WebSocketPeer.Frame {
    /// The bytes on the wire, as a client sends them.
    var maskedBytes: [UInt8] {
        var frame = self
        frame.mask = [0x37, 0xFA, 0x21, 0x3D]
        return frame.bytes
    }
}
