// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleWebSocket
import Testing

/// Against a server that others have written: the package websockets of Python.
@Suite(.timeLimit(.minutes(15))) struct PythonWebSocketsTests {
    private let server: ChildProcess
    private let port: Int

    /// Sends every message back; a message of two words is a wish.
    private static let script = """
        import asyncio, sys, websockets
        from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory as Deflate

        extensions = {
            "none": None,
            "plain": [Deflate()],
            "forget": [Deflate(server_no_context_takeover=True, client_no_context_takeover=True)],
            "small": [Deflate(server_max_window_bits=9, client_max_window_bits=9)],
            "strict": [Deflate(True, True, 10, 10)],
        }[sys.argv[1]]

        async def handle(socket):
            async for message in socket:
                if message == "close now":
                    await socket.close(4321, "as you wish")
                elif message == "many fragments":
                    await socket.send("fragment %d, " % number for number in range(100))
                elif message == "ping me":
                    await (await socket.ping(b"are you there"))
                    await socket.send("you are")
                else:
                    await socket.send(message)

        async def main():
            async with websockets.serve(
                handle, "127.0.0.1", 0, extensions=extensions, compression=None, max_size=None,
                subprotocols=["echo"],
            ) as server:
                sys.stdout.write("listening %d\\n" % server.sockets[0].getsockname()[1])
                sys.stdout.flush()
                await asyncio.Future()

        asyncio.run(main())
        """

    private init(_ kind: String) throws {
        self.server = try ChildProcess("/usr/bin/python3", ["-c", Self.script, kind])
        let line = try self.server.waitForLine("the port") { $0.hasPrefix("listening ") }
        self.port = try #require(Int(line.dropFirst("listening ".count)))
    }

    init() throws { try self.init("none") }

    @Test(arguments: ["none", "plain", "forget", "small", "strict"])
    func `messages of all lengths come back, compressed as was agreed`(kind: String) async throws {
        let python = try PythonWebSocketsTests(kind)
        let stage = try SessionStage()
        var options = WebSocketOptions()
        options.subprotocols = ["echo"]
        if kind == "strict" {
            // The client requests the same restrictions on its own account.
            options.compression?.serverNoContextTakeover = true
            options.compression?.serverMaxWindowBits = 10
            options.compression?.clientMaxWindowBits = 8
        }
        let socket = try await stage.socket(python.port, options: options)
        #expect(socket.subprotocol == "echo" && socket.extensions.isEmpty == (kind == "none"), "\(socket.extensions)")
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        for count in [0, 1, 63, 64, 125, 126, 127, 5000, 65_535, 65_536, 200_000, 1_000_000] {
            let noise = (0..<count / 2).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let bytes = noise + Array(repeating: 0x2A, count: count - count / 2)
            let text = String(repeating: "Straße ", count: count / 8)
            try await socket.send(ByteBuffer(bytes: bytes))
            try await socket.send(text)
            #expect(try await socket.receive() == .binary(ByteBuffer(bytes: bytes)), "\(count), seed \(Seed.ofThisRun)")
            #expect(try await socket.receive() == .text(text), "\(count)")
        }
        try await socket.send("many fragments")
        #expect(try await socket.receive() == .text((0..<100).map { "fragment \($0), " }.joined()))
        try await socket.send("ping me")
        #expect(try await socket.receive() == .text("you are"))
        #expect(try await socket.ping() > .zero)
        try await socket.send("close now")
        #expect(try await socket.receive() == nil)
        #expect(socket.closeCode?.rawValue == 4321 && socket.closeReason == "as you wish")
    }

    @Test func `a client closes, and the server answers`() async throws {
        let stage = try SessionStage()
        let socket = try await stage.socket(self.port)
        await socket.close(code: .goingAway, reason: "off")
        #expect(socket.closeCode == .goingAway)
    }
}
