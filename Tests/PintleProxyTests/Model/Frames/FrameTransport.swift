// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop

/// The bytes between the client of a course and the proxy, in place of a socket: they come in pieces of any size, and leave when
/// the client takes them.
final class FrameTransport: StreamTransport {
    private struct Broken: Error {}

    /// Called with the bytes that the proxy sends.
    var whenSent: ((UnsafeRawBufferPointer) -> Void)?
    /// Called when the proxy says that nothing more comes.
    var whenEnded: (() -> Void)?
    /// False while the client does not read.
    var isTaking = true
    private(set) var hasEnded = false
    private(set) var isClosed = false
    private let descriptor: Int32
    private var inbox = ByteBuffer()
    /// The size of the next pieces, and their number.
    private var (pieceSize, pieces) = (0, 0)
    /// Pieces that may still come in this turn.
    private var room = 0
    private static let mostPieces = 3
    private var (hasLeft, isBroken) = (false, false)

    /// - Parameter descriptor: never ready for anything; it is closed at the end.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    // MARK: The client's side

    /// True if all that the client has sent has come.
    var isEmpty: Bool { self.inbox.readableBytes == 0 }

    func send(_ bytes: [UInt8]) { self.inbox.writeBytes(bytes) }

    /// Lets the next pieces come.
    func deliver() { self.room = Self.mostPieces }

    func cut(into size: Int) { (self.pieceSize, self.pieces) = (size, 40) }

    func leave() { self.hasLeft = true }

    func breakOff() { self.isBroken = true }

    // MARK: The proxy's side

    // Epoll never says that there is more: the client does.
    private static let wait = StreamOutcome.wouldBlock(until: .read)

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        if self.isBroken { return .failed(Broken()) }
        guard self.inbox.readableBytes > 0 else { return self.hasLeft ? .end : Self.wait }
        guard self.room > 0 else { return Self.wait }
        self.room -= 1
        var count = min(space.count, self.inbox.readableBytes)
        if self.pieces > 0 {
            self.pieces -= 1
            count = min(count, self.pieceSize)
        }
        self.inbox.readWithUnsafeReadableBytes { bytes in
            space.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
            return count
        }
        if self.inbox.readableBytes == 0 { self.inbox.clear() }
        return .bytes(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        if self.isBroken || self.hasLeft { return .failed(Broken()) }
        guard self.isTaking else { return Self.wait }
        self.whenSent?(bytes)
        return .bytes(bytes.count)
    }

    func shutdownOutput() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.whenEnded?()
    }

    func close() {
        self.isClosed = true
        self.shutdownOutput()
        Glibc.close(self.descriptor)
    }
}
