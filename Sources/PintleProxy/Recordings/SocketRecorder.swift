// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleTape

/// Records the messages of a WebSocket. The recording is written when the connection ends.
final class SocketRecorder: MessageKeeper {
    private var observed: RawRecording
    private let tape: RouteTape
    private let loop: Loop
    private let start: NIODeadline
    private var messages: [TapeMessage] = []
    private var bytes = 0
    private var isWritten = false
    /// The most messages of a connection.
    private static let mostMessages = 10_000

    init(_ observed: RawRecording, on tape: RouteTape, on loop: Loop) {
        (self.observed, self.tape, self.loop, self.start) = (observed, tape, loop, loop.turnTime)
    }

    var longest: Int { self.tape.limit }

    // The limits of the tape bound it.
    func takeWorkspace(_ count: Int) -> Bool { true }

    func giveBackWorkspace(_ count: Int) {}

    func keep(_ message: ByteBuffer, _ kind: ShownMessage.Kind, fromClient isFromClient: Bool) -> Bool {
        let recorded: TapeMessage.Kind
        switch kind {
        case .text: recorded = .text
        case .binary: recorded = .binary
        case .close: recorded = .close
        // They have no meaning for the programs at the ends.
        case .ping, .pong: return true
        }
        self.bytes += message.readableBytes
        guard self.bytes <= self.tape.limit, self.messages.count < Self.mostMessages else {
            self.observed.gap = ContentUnpacking.tooLong(self.tape.limit)
            return false
        }
        self.messages.append(
            TapeMessage(
                time: Int((self.loop.turnTime - self.start).nanoseconds / 1_000_000), isFromClient: isFromClient,
                kind: recorded, bytes: Array(message.readableBytesView)))
        return true
    }

    func end() {
        // The connection may break in both directions.
        if self.isWritten { return }
        self.isWritten = true
        self.observed.response.messages = self.observed.gap == nil ? self.messages : []
        self.observed.endTime = self.observed.headTime + Int((self.loop.turnTime - self.start).nanoseconds / 1_000_000)
        self.tape.write(self.observed)
    }
}
