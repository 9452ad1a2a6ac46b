// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleWebSocket
import Testing

/// WebSockets of a session: messages both ways, pings, and how they end.
@Suite(.timeLimit(.minutes(15))) struct WebSocketTests {
    @Test func `messages go both ways, in order, and the closing handshake ends it`() async throws {
        let origin = try echoOrigin()
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        #expect(socket.response.status == 101 && socket.closeCode == nil && socket.extensions.isEmpty)
        #expect(stage.session.webSocketTasks.map(\.id) == [socket.task.id] && socket.task.state == .running)
        let sent: [WebSocketMessage] = [
            .text("grüße"), .binary(ByteBuffer(bytes: [0, 1, 255])), .text(""),
            .binary(ByteBuffer(repeating: 7, count: 300_000)),
        ]
        for message in sent { try await socket.send(message) }
        for message in sent { #expect(try await socket.receive() == message) }
        await socket.close(code: WebSocketCloseCode(rawValue: 4000), reason: "done")
        #expect(socket.closeCode?.rawValue == 4000 && socket.closeReason == "done")
        #expect(try await socket.receive() == nil)
        #expect(await sessionError { try await socket.send("late") }?.code == .cannotSend)
        #expect(await sessionError { _ = try await socket.ping() }?.code == .cannotSend)
        _ = try await socket.task.value()
        #expect(stage.session.tasks.isEmpty)
        let asked = try #require(origin.requests.first)
        #expect(asked.head.startLine == "GET /chat HTTP/1.1" && asked["Host"] == "127.0.0.1:\(origin.port)")
        #expect(asked.head.values("Connection") == ["Upgrade"] && asked.head.values("Upgrade") == ["websocket"])
        #expect(asked["Sec-WebSocket-Version"] == "13")
        #expect(asked["Sec-WebSocket-Extensions"] == "permessage-deflate; client_max_window_bits")
    }

    @Test func `a subprotocol and an extension are agreed on, and messages are compressed`() async throws {
        let lengths = Watched<[Int]>([])
        let origin = try socketOrigin(
            fields: "Sec-WebSocket-Protocol: v2.chat\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
        ) { peer in
            let frame = try peer.readFrame()
            lengths.change { $0.append(frame.payload.count) }
            var answer = frame
            answer.mask = []
            // Behind the head and the echo the server closes at once.
            try peer.send(answer, .close(1001, Array("bye".utf8)))
            try peer.finish(after: peer.readFrame(8))
        }
        var options = WebSocketOptions()
        options.subprotocols = ["v1.chat", "v2.chat"]
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port, options: options)
        #expect(socket.subprotocol == "v2.chat" && socket.extensions == "permessage-deflate")
        let text = String(repeating: "compressible ", count: 1000)
        try await socket.send(text)
        #expect(try await messages(of: socket) == [.text(text)])
        #expect(socket.closeCode == .goingAway && socket.closeReason == "bye")
        #expect(try #require(lengths.current.first) < 200)
        #expect(origin.requests.first?["Sec-WebSocket-Protocol"] == "v1.chat, v2.chat")
    }

    @Test(arguments: ["chat?x=1", "ws://127.0.0.1:PORT/v1/chat?x=1"])
    func `a client opens one below its base, and its steps are passed`(url: String) async throws {
        let origin = try echoOrigin()
        let stage = try SessionStage()
        var api = try HTTPSession(stage.session, base: "http://127.0.0.1:\(origin.port)/v1")
        api.interceptors = [.bearer(BearerTokens("secret") { _ in "other" })]
        let socket = try await api.webSocket(url.replacing("PORT", with: "\(origin.port)")) {
            $0.fields.set("X-Shaped", "yes")
        }
        try await socket.send("hello")
        #expect(try await socket.receive() == .text("hello"))
        await socket.close()
        let asked = try #require(origin.requests.first)
        #expect(asked.head.startLine == "GET /v1/chat?x=1 HTTP/1.1" && asked["X-Shaped"] == "yes")
        #expect(asked["Authorization"] == "Bearer secret")
    }

    @Test func `what comes with the head is not lost`() async throws {
        let origin = try RawOrigin { connection in
            let request = try connection.readRequestHead()
            let head = WebSocketWire.switching(for: request)
            let frames = WebSocketPeer.Frame(1, Array("first".utf8)).bytes + WebSocketPeer.Frame.close(1000).bytes
            try connection.stream.send(Array(head.utf8) + frames)
            _ = try connection.waitForEnd()
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        #expect(try await messages(of: socket) == [.text("first")])
        await socket.close()
        #expect(socket.closeCode == .normal)
    }

    @Test func `a ping is timed, and answered among messages`() async throws {
        let origin = try echoOrigin()
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        try await socket.send("before")
        async let second = socket.ping()
        #expect(try await socket.ping() > .zero)
        #expect(try await second > .zero)
        #expect(try await socket.receive() == .text("before"))
        await socket.close()
    }

    @Test func `a server's pings are answered although nobody reads messages`() async throws {
        let pongs = Watched<[[UInt8]]>([])
        let origin = try socketOrigin { peer in
            for number in 0..<5 as Range<UInt8> {
                try peer.send(WebSocketPeer.Frame(9, [number]))
                let pong = try peer.readFrame(10)
                pongs.change { $0.append(pong.payload) }
            }
            try peer.finish(after: peer.readFrame(8))
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        try await pongs.reach("five pongs") { $0.count == 5 }
        #expect(pongs.current == [[0], [1], [2], [3], [4]])
        await socket.close()
    }

    @Test func `an end without a Close is an error, behind the messages before it`() async throws {
        let origin = try socketOrigin { peer in try peer.send(WebSocketPeer.Frame(1, [0x61])) }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        #expect(try await socket.receive() == .text("a"))
        let error = await sessionError { _ = try await socket.receive() }
        #expect(error?.code == .connectionBroken && error?.message.contains("without a Close") == true)
        #expect(socket.closeCode == .abnormal)
        #expect(await sessionError { _ = try await socket.task.value() }?.code == .connectionBroken)
        #expect(await sessionError { try await socket.send("late") }?.code == .connectionBroken)
    }

    @Test func `a message over the limit ends it with 1009`() async throws {
        let codes = Watched<[UInt16?]>([])
        let origin = try socketOrigin { peer in
            try peer.send(WebSocketPeer.Frame(2, Array(repeating: 1, count: 101)))
            let close = try peer.readFrame()
            codes.change { $0.append(close.code) }
            _ = try peer.stream.readToEnd()
        }
        var options = WebSocketOptions()
        options.messageLimit = 100
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port, options: options)
        let error = await sessionError { _ = try await socket.receive() }
        #expect(error?.code == .tooLarge && (error?.underlying as? WebSocketViolation)?.kind == .messageTooBig)
        #expect(try await codes.reach("a Close") { !$0.isEmpty } == [1009])
    }

    @Test func `a server that does not answer a Close is waited for as long as the options say`() async throws {
        let isOver = Watched(false)
        let origin = try socketOrigin { peer in
            _ = try peer.readFrame(8)
            try isOver.wait(for: "the client to give up") { $0 }
        }
        var options = WebSocketOptions()
        options.closeTimeout = .milliseconds(50)
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port, options: options)
        await socket.close()
        isOver.change { $0 = true }
        #expect(socket.closeCode == .abnormal)
        _ = try await socket.task.value()
        #expect(stage.session.tasks.isEmpty)
    }

    @Test func `what was sent before a Close arrives before it`() async throws {
        let frames = Watched<[WebSocketPeer.Frame]>([])
        let origin = try socketOrigin { peer in
            while case let frame = try peer.readFrame() {
                frames.change { $0.append(frame) }
                if frame.opcode == 8 { return try peer.finish(after: frame) }
            }
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        for _ in 0..<20 { try await socket.send(ByteBuffer(repeating: 1, count: 100_000)) }
        await socket.close()
        #expect(frames.current.reduce(0) { $0 + ($1.opcode == 8 ? 0 : $1.payload.count) } == 2_000_000)
        #expect(frames.current.allSatisfy { $0.mask.count == 4 }, "a client masks everything")
        #expect(Set(frames.current.map(\.mask)).count > frames.current.count - 2, "by masks of their own")
    }

    @Test func `one that is let go is closed with 1001, behind what was sent`() async throws {
        let frames = Watched<[WebSocketPeer.Frame]>([])
        let origin = try socketOrigin { peer in
            frames.change { $0 = [] }
            while case let frame = try peer.readFrame() {
                frames.change { $0.append(frame) }
                if frame.opcode == 8 { return try peer.finish(after: frame) }
            }
        }
        let stage = try SessionStage()
        var socket: WebSocket? = try await stage.socket(origin.port)
        try await socket?.send("last words")
        socket = nil
        let seen = try await frames.reach("a Close") { $0.last?.opcode == 8 }
        #expect(seen.map(\.opcode) == [1, 8] && seen.last?.code == 1001)
        await stage.session.finishTasksAndInvalidate()
    }
}
