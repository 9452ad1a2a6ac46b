// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleTape

/// Records the messages of a WebSocket, and compares them if the tape is for that. The recording is written when the connection
/// ends.
final class SocketRecorder: MessageKeeper {
    private var observed: RawRecording
    private let tape: RouteTape
    private let loop: Loop
    private let start: NIODeadline
    private var messages: [TapeMessage] = []
    /// The bytes of the messages, and of those that are not complete.
    private var (bytes, workspace) = (0, 0)
    private var hasEnded = false
    /// The most messages of a connection.
    private static let mostMessages = 10_000

    init(_ observed: RawRecording, on tape: RouteTape, on loop: Loop) {
        (self.observed, self.tape, self.loop, self.start) = (observed, tape, loop, loop.turnTime)
    }

    private var elapsed: Int { Int((self.loop.turnTime - self.start).nanoseconds / 1_000_000) }

    var longest: Int { self.tape.limit }

    func takeWorkspace(_ count: Int) -> Bool {
        self.workspace += count
        if self.hold() { return true }
        self.workspace -= count
        // Nothing more is told to a keeper without room.
        self.end()
        return false
    }

    func giveBackWorkspace(_ count: Int) {
        self.workspace -= count
        _ = self.hold()
    }

    private func hold() -> Bool {
        self.observed.hold(
            self.observed.bytes + self.bytes + self.messages.count * RawRecording.messageOverhead + self.workspace)
    }

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
            return self.leaveOut(
                "the messages are more than \(Self.mostMessages), or longer than recordings.bodies, \(self.tape.limit) bytes"
            )
        }
        self.messages.append(
            TapeMessage(
                time: self.elapsed, isFromClient: isFromClient, kind: recorded, bytes: Array(message.readableBytesView))
        )
        if self.hold() { return true }
        self.messages = []
        return false
    }

    func loseTrack() {
        _ = self.leaveOut("a message cannot be followed: it is longer than 1 MiB, or breaks the protocol")
    }

    /// - Returns: false: no more messages are kept.
    private func leaveOut(_ reason: String) -> Bool {
        self.observed.leaveOut(reason)
        self.messages = []
        return false
    }

    func end() {
        // The connection may break in both directions.
        if self.hasEnded { return }
        self.hasEnded = true
        self.observed.response.messages = self.messages
        // They belong to the recording now.
        (self.messages, self.bytes) = ([], 0)
        self.observed.endTime = self.observed.headTime + self.elapsed
        if self.tape.rules.mode != .compare { self.tape.write(self.observed) }
    }

    func compare(then proceed: @escaping ([String]) -> Void) {
        guard self.tape.rules.mode == .compare else { return proceed([]) }
        self.tape.compare(self.observed, on: self.loop, then: proceed)
    }
}
