// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleWebSocket

/// Keeps the messages of a WebSocket. Used on the loop of the connection.
protocol MessageKeeper: AnyObject {
    /// The most bytes that are kept of one message.
    var longest: Int { get }
    /// Takes room for bytes that are not kept.
    ///
    /// - Returns: false if there is none.
    func takeWorkspace(_ count: Int) -> Bool
    func giveBackWorkspace(_ count: Int)
    /// Keeps a message, or its beginning.
    ///
    /// - Returns: false if no more messages are kept.
    func keep(_ message: ByteBuffer, _ kind: ShownMessage.Kind, fromClient isFromClient: Bool) -> Bool
    /// Called when a message cannot be followed; no more are kept.
    func loseTrack()
    /// Called when the connection has ended, and nothing more comes.
    func end()
    /// Compares what was kept with a recording, if that is what it is for. Called after the end.
    ///
    /// - Parameter proceed: gets a sentence for each difference, now or later.
    func compare(then proceed: @escaping ([String]) -> Void)
}

extension MessageKeeper {
    func compare(then proceed: @escaping ([String]) -> Void) { proceed([]) }
}

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

    /// Those that keep more.
    private var keepers: [any MessageKeeper]
    private let all: [any MessageKeeper]
    /// The bytes for messages that are not complete, in both directions.
    private let workspace: Int
    private var up: Reader
    private var down: Reader
    /// True once nothing more is read.
    private(set) var isOver = false

    /// - Parameters:
    ///   - head: the 101.
    ///   - keepers: those with room for what is not complete take part.
    /// - Returns: nil if there is nothing to keep, no WebSocket, or no room.
    init?(_ head: ResponseHead, _ keepers: [any MessageKeeper]) {
        guard let most = keepers.map(\.longest).max(), head.switchesToWebSocket else { return nil }
        let longest = min(max(most, Self.limits.least), Self.limits.most)
        let workspace = 2 * (longest + Self.window)
        let ready = keepers.filter { $0.takeWorkspace(workspace) }
        guard !ready.isEmpty else { return nil }
        (self.keepers, self.all, self.workspace) = (ready, ready, workspace)
        let compression = DeflateParameters(agreedIn: head.fields)
        func reader(_ role: WebSocketRole) -> Reader {
            Reader(machine: WebSocketMachine(role: role, compression: compression, messageLimit: longest))
        }
        self.up = reader(.server)
        self.down = reader(.client)
    }

    deinit { for keeper in self.all { keeper.giveBackWorkspace(self.workspace) } }

    /// Reads bytes that are on their way; does nothing once it is over.
    func take(_ bytes: ByteBuffer, _ direction: SocketRelay.Direction) {
        // It has met something that it cannot follow.
        guard !self.isOver else { return }
        switch direction {
        case .up: self.isOver = !Self.read(bytes, by: &self.up, fromClient: true, &self.keepers)
        case .down: self.isOver = !Self.read(bytes, by: &self.down, fromClient: false, &self.keepers)
        }
    }

    /// - Returns: false if nothing more is to be read.
    private static func read(
        _ bytes: ByteBuffer, by reader: inout Reader, fromClient isFromClient: Bool,
        _ keepers: inout [any MessageKeeper]
    ) -> Bool {
        reader.rest.writeImmutableBuffer(bytes)
        var budget = Self.budget
        while let event = reader.machine.next(&reader.rest, budget: &budget) {
            let (payload, kind): (ByteBuffer, ShownMessage.Kind)
            switch event {
            case .message(let message): (payload, kind) = (message.bytes, message.isText ? .text : .binary)
            case .ping(let bytes): (payload, kind) = (bytes, .ping)
            case .pong(let bytes): (payload, kind) = (bytes, .pong)
            case .close(let close): (payload, kind) = (close.payload, .close)
            case .violation: return Self.loseTrack(&keepers)
            }
            keepers.removeAll { !$0.keep(payload, kind, fromClient: isFromClient) }
            if keepers.isEmpty { return false }
        }
        reader.rest.discardReadBytes()
        // A bomb, or a piece that is longer than any that the relay reads.
        return budget > 0 || Self.loseTrack(&keepers)
    }

    /// - Returns: false: nothing more is read.
    private static func loseTrack(_ keepers: inout [any MessageKeeper]) -> Bool {
        for keeper in keepers { keeper.loseTrack() }
        keepers = []
        return false
    }

    /// Tells those that keep messages that nothing more comes.
    func end() { for keeper in self.all { keeper.end() } }
}
