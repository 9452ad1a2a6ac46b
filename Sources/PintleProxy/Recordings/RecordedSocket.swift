// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem
internal import PintleTape
internal import PintleWebSocket

/// Plays the server of a recorded WebSocket: its messages behind the client's n-th message come behind the n-th one now, whatever
/// that says.
final class RecordedSocket: ServiceSocket {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let channel: SocketChannel
    private let messages: [TapeMessage]
    private let timing: ReplayRules.Timing
    private var machine = WebSocketMachine(role: .server, messageLimit: RecordedSocket.messageLimit)
    private var held = ByteBuffer()
    /// The next message of the recording.
    private var number = 0
    /// The messages of the client that were not counted yet.
    private var received = 0
    /// True once the client's close of the recording is passed.
    private var isEndedByClient = false
    var timer: LoopTimer?

    private static let messageLimit = 16 << 20

    /// Switches the protocol, and begins to play.
    ///
    /// - Returns: the problem if the request asks for no WebSocket, or the system has no sockets; nil if it is played.
    static func begin(
        _ request: TapedRequest, _ recorded: ResponseHead, _ messages: [TapeMessage], at timing: ReplayRules.Timing,
        by answer: LocalAnswer
    ) -> Problem? {
        var fields = request.transfer.fields
        if let upgrade = request.transfer.upgrade { fields.append("Upgrade", upgrade) }
        fields.append("Connection", "Upgrade")
        let head = RequestHead(
            method: request.transfer.method, target: .origin(path: request.transfer.path), fields: fields)
        let protocols = recorded.fields.values(of: "Sec-WebSocket-Protocol")
        do {
            var (answerHead, _) = try ServerHandshake(protocols: protocols).answer(to: head)
            for (name, value) in recorded.fields.pairs where !answerHead.fields.contains(name) {
                answerHead.fields.append(name, value)
            }
            // The client has left.
            guard let channel = try answer.switchProtocols(answerHead) else { return nil }
            RecordedSocket(channel, messages, timing).start()
            return nil
        } catch {
            return Problem(.recordingMissing, "the recording is a WebSocket, which cannot be opened: \(error)")
        }
    }

    private init(_ channel: SocketChannel, _ messages: [TapeMessage], _ timing: ReplayRules.Timing) {
        (self.channel, self.messages, self.timing) = (channel, messages, timing)
    }

    private func start() {
        self.open()
        var output = ByteBuffer()
        self.play(into: &output)
        self.send(output)
    }

    // MARK: Messages

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A copy, because the loop reuses its buffer.
        self.held.writeBytes(self.unwrapInboundIn(data).readableBytesView)
        var output = ByteBuffer()
        var budget = Int.max
        while let event = self.machine.next(&self.held, budget: &budget) {
            self.machine.answer(event, into: &output)
            guard case .message = event else { continue }
            self.received += 1
            // Now, because the client's close may be in the same piece.
            self.play(into: &output)
        }
        self.held.discardReadBytes()
        self.send(output)
        if !self.machine.takesInput { self.channel.close(promise: nil) }
    }

    /// Writes the messages that are due, and waits for the next one's time, or for the client.
    private func play(into output: inout ByteBuffer) {
        // It waits already.
        guard self.timer == nil else { return }
        while self.number < self.messages.count, self.machine.takesOutput {
            let message = self.messages[self.number]
            if message.isFromClient {
                // Its close comes whenever the client ends the connection.
                guard self.received > 0 || message.kind == .close else { break }
                if message.kind == .close { self.isEndedByClient = true } else { self.received -= 1 }
                self.number += 1
                continue
            }
            // The server's close was only the answer to it.
            if self.isEndedByClient, message.kind == .close { break }
            let wait = self.number > 0 ? message.time - self.messages[self.number - 1].time : message.time
            if self.timing == .recorded, wait > 0 {
                self.arm(wait)
                break
            }
            self.write(message, into: &output)
        }
    }

    private func arm(_ milliseconds: Int) {
        // The pipeline keeps this object while the channel is open.
        let timer = LoopTimer { [weak self] in self?.due() }
        self.timer = timer
        self.channel.loop.arm(timer, at: self.channel.loop.turnTime + .milliseconds(Int64(milliseconds)))
    }

    private func due() {
        self.timer = nil
        var output = ByteBuffer()
        if self.machine.takesOutput { self.write(self.messages[self.number], into: &output) }
        self.play(into: &output)
        self.send(output)
    }

    private func write(_ message: TapeMessage, into output: inout ByteBuffer) {
        self.number += 1
        let bytes = ByteBuffer(bytes: message.bytes)
        switch message.kind {
        case .text, .binary:
            self.machine.write(WebSocketPayload(isText: message.kind == .text, bytes: bytes), into: &output)
        case .close: self.machine.writeClose(Self.close(message.bytes), into: &output)
        }
    }

    /// Reads the payload of a Close (RFC 6455 §5.5.1).
    private static func close(_ payload: [UInt8]) -> WebSocketClose {
        guard payload.count >= 2 else { return WebSocketClose(.noStatus) }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        return WebSocketClose(code, String(decoding: payload[2...], as: UTF8.self))
    }
}
