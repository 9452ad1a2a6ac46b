// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleProxy
internal import PintleSystem
internal import PintleWebSocket

/// The WebSocket of one client of the Chrome DevTools Protocol.
final class DevToolsSocket: ServiceSocket {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let interval = TimeAmount.milliseconds(100)
    /// The intervals between two pings, without which proxies on the way end a silent connection.
    private static let intervalsOfPings = 300
    /// The most bytes of a command. The front end sends scripts of some 100 KB, which are not run.
    private static let messageLimit = 1 << 20

    let channel: SocketChannel
    private let program: any AdminProgram
    private var machine = WebSocketMachine(role: .server, messageLimit: DevToolsSocket.messageLimit)
    private var session: DevToolsSession
    var timer: LoopTimer?
    private var round = 0
    /// The received beginning of a frame.
    private var held = ByteBuffer()

    /// Answers a request for the WebSocket, and serves the client until either side ends it.
    static func begin(
        _ request: LocalRequest, by answer: LocalAnswer, of program: any AdminProgram, _ recent: RecentExchanges
    ) {
        do {
            let (head, _) = try ServerHandshake().answer(to: request.head)
            // The client has left.
            guard let channel = try answer.switchProtocols(head) else { return }
            DevToolsSocket(channel, program, recent).start()
        } catch let error as WebSocketHandshakeError {
            let isVersion = error.kind == .version
            answer.send(
                AdminReply(
                    AdminGate.Refusal(
                        status: isVersion ? 426 : 400, title: "No WebSocket",
                        detail: "the request does not open a WebSocket: \(error.message)",
                        fields: isVersion ? [("Sec-WebSocket-Version", "13"), ("Upgrade", "websocket")] : [])))
        } catch {
            answer.send(
                AdminReply(
                    AdminGate.Refusal(
                        status: 503, title: "No connection", detail: "there is no pair of sockets: \(error)")))
        }
    }

    private init(_ channel: SocketChannel, _ program: any AdminProgram, _ recent: RecentExchanges) {
        (self.channel, self.program, self.session) = (channel, program, DevToolsSession(recent))
    }

    private func start() {
        self.timer = LoopTimer { [weak self] in self?.tick() }
        self.open()
        self.arm()
    }

    private func arm() {
        if let timer { self.channel.loop.arm(timer, at: self.channel.loop.turnTime + Self.interval) }
    }

    // MARK: Commands

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        // A copy, because the loop reuses its buffer.
        self.held.writeBytes(bytes.readableBytesView)
        var output = ByteBuffer()
        var budget = Int.max
        while let event = self.machine.next(&self.held, budget: &budget) {
            self.machine.answer(event, into: &output)
            if case .message(let message) = event {
                self.write(
                    self.session.answer(Array(message.bytes.readableBytesView), self.program.redaction), into: &output)
            }
        }
        self.held.discardReadBytes()
        self.send(output)
        if !self.machine.takesInput { self.channel.close(promise: nil) }
    }

    /// Takes no more commands from a client that does not read the answers.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.channel.setAutoRead(self.channel.isWritable)
    }

    // MARK: Events

    private func tick() {
        self.round += 1
        var output = ByteBuffer()
        // A client that does not read is told later how much it has missed.
        if self.channel.isWritable {
            let policy = self.program.active.policy
            // Moved out, because the closure uses the machine beside it.
            var session = self.session
            session.events(under: policy, self.program.redaction, at: .now()) { self.write($0, into: &output) }
            self.session = session
            if self.round.isMultiple(of: Self.intervalsOfPings) { self.machine.writePing(ByteBuffer(), into: &output) }
        }
        self.arm()
        self.send(output)
    }

    private func write(_ message: [UInt8], into output: inout ByteBuffer) {
        // A client may send commands behind its Close; they have no answers.
        guard self.machine.takesOutput else { return }
        self.machine.write(WebSocketPayload(isText: true, bytes: ByteBuffer(bytes: message)), into: &output)
    }
}
