// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleWebSocket

/// Reads the messages of a WebSocket that is relayed, to keep them. It changes nothing on the way, and gives up at the first thing
/// that it cannot follow, or when enough is kept.
final class MessageWatch {
    /// The shortest and the longest limit for the bytes of a message that is read.
    private static let limits = (least: 16 << 10, most: 1 << 20)
    /// The memory that unfolding takes, beside the message, in bytes.
    private static let window = 48 << 10
    /// The most bytes that a piece may unfold to in a turn.
    private static let budget = 256 << 10

    private struct Reader: ~Copyable {
        var machine: WebSocketMachine
        var rest = ByteBuffer()
    }

    private let capture: ExchangeCapture
    /// The bytes for messages that are not complete, in both directions.
    private let workspace: Int
    private var up: Reader
    private var down: Reader
    /// True once nothing more is read.
    private(set) var isOver = false

    /// - Parameters:
    ///   - head: the 101.
    ///   - capture: nil if no bodies are kept.
    /// - Returns: nil if there is nothing to keep, no WebSocket, or no room.
    init?(_ head: ResponseHead, _ capture: ExchangeCapture?) {
        guard let capture, head.fields.values(of: "Upgrade").contains(where: { $0.lowercased() == "websocket" }) else {
            return nil
        }
        let longest = min(max(capture.longest, Self.limits.least), Self.limits.most)
        let workspace = 2 * (longest + Self.window)
        guard capture.takeWorkspace(workspace) else { return nil }
        (self.capture, self.workspace) = (capture, workspace)
        let compression = DeflateParameters(agreedIn: head.fields)
        func reader(_ role: WebSocketRole) -> Reader {
            Reader(machine: WebSocketMachine(role: role, compression: compression, messageLimit: longest))
        }
        self.up = reader(.server)
        self.down = reader(.client)
    }

    deinit { self.capture.giveBackWorkspace(self.workspace) }

    /// Reads bytes that are on their way; does nothing once it is over.
    func take(_ bytes: ByteBuffer, _ direction: SocketRelay.Direction) {
        guard !self.isOver else { return }
        switch direction {
        case .up: self.isOver = !Self.read(bytes, by: &self.up, fromClient: true, self.capture)
        case .down: self.isOver = !Self.read(bytes, by: &self.down, fromClient: false, self.capture)
        }
    }

    /// - Returns: false if nothing more is to be read.
    private static func read(
        _ bytes: ByteBuffer, by reader: inout Reader, fromClient isFromClient: Bool, _ capture: ExchangeCapture
    ) -> Bool {
        reader.rest.writeImmutableBuffer(bytes)
        var budget = Self.budget
        while let event = reader.machine.next(&reader.rest, budget: &budget) {
            let isKept =
                switch event {
                case .message(let payload):
                    capture.keep(payload.bytes, payload.isText ? .text : .binary, fromClient: isFromClient)
                case .ping(let payload): capture.keep(payload, .ping, fromClient: isFromClient)
                case .pong(let payload): capture.keep(payload, .pong, fromClient: isFromClient)
                case .close(let close): capture.keep(close.payload, .close, fromClient: isFromClient)
                case .violation: false
                }
            if !isKept { return false }
        }
        reader.rest.discardReadBytes()
        // A bomb, or a piece that is longer than any that the relay reads.
        return budget > 0
    }
}
