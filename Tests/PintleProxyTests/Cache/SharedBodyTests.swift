// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleSession
import PintleSystem
import Testing

@testable import PintleProxy

/// One body, many readers.
struct SharedBodyTests {
    private static func piece(_ byte: UInt8, _ count: Int) -> ByteBuffer { ByteBuffer(repeating: byte, count: count) }

    /// Reads all bytes that are there.
    private func drain(
        _ body: SharedBody, _ reader: SharedBody.Reader, wake: @escaping @Sendable () -> Void = {}
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        while case .piece(let piece) = body.next(reader, wake: wake) { bytes += piece.readableBytesView }
        return bytes
    }

    @Test func `each reader gets everything, at its own speed`() throws {
        let body = SharedBody(limit: 100)
        let quick = try #require(body.open())
        let slow = try #require(body.open())
        #expect(body.append(Self.piece(1, 3)))
        #expect(self.drain(body, quick) == [1, 1, 1])
        #expect(body.append(Self.piece(2, 2)))
        body.finish(nil)
        #expect(self.drain(body, quick) == [2, 2])
        // A late reader begins at the beginning, too.
        let late = try #require(body.open())
        #expect(self.drain(body, late) == [1, 1, 1, 2, 2] && self.drain(body, slow) == [1, 1, 1, 2, 2])
        guard case .end(nil) = body.next(slow, wake: {}) else { return #expect(Bool(false), "it has ended") }
        // Small pieces are one.
        #expect(body.whole?.map(\.readableBytes) == [5] && body.count == 5)
    }

    @Test func `a reader that waits is woken once`() throws {
        let body = SharedBody(limit: 100)
        let reader = try #require(body.open())
        let wakes = Locked(0)
        #expect(self.drain(body, reader) { wakes.withLock { $0 += 1 } }.isEmpty)
        for _ in 0..<2 { _ = body.append(Self.piece(1, 1)) }
        #expect(wakes.withLock { $0 } == 1)
        #expect(self.drain(body, reader) { wakes.withLock { $0 += 1 } }.count == 2)
        body.finish(SessionError(.truncated, "cut"))
        #expect(wakes.withLock { $0 } == 2 && body.whole == nil)
        guard case .end(let error?) = body.next(reader, wake: {}) else { return #expect(Bool(false), "it has failed") }
        #expect(error.code == .truncated)
    }

    @Test func `what is over the limit is kept from the slowest reader on, and its source waits for that one`() throws {
        let body = SharedBody(limit: 10)
        let quick = try #require(body.open())
        let slow = try #require(body.open())
        let resumed = Locked(0)
        var appended = 0
        while body.append(Self.piece(UInt8(appended), 64 * 1024)) {
            appended += 1
            #expect(self.drain(body, quick).count == 64 * 1024)
        }
        #expect(appended == 3)
        body.whenRoom { resumed.withLock { $0 += 1 } }
        #expect(resumed.withLock { $0 } == 0)
        guard case .piece(let first) = body.next(slow, wake: {}) else { return #expect(Bool(false), "it is there") }
        #expect(first.readableBytesView.first == 0 && resumed.withLock { $0 } == 1)
        // The beginning is gone.
        #expect(body.open() == nil && body.whole == nil)
        #expect(!body.close(slow) && body.close(quick))
        #expect(body.closeIfUnread())
    }

    @Test func `what would write it to a disk is let go at its end`() {
        final class Source: Sendable {}
        for (pieces, error) in [(1, nil), (1, SessionError(.truncated, "cut")), (3, nil)] {
            var source: Source? = Source()
            weak let known = source
            let body = SharedBody(limit: 2) { [source] _ in withExtendedLifetime(source) {} }
            for _ in 0..<pieces { _ = body.append(Self.piece(1, 1)) }
            body.finish(error)
            source = nil
            #expect(known == nil && body.count == UInt64(pieces))
        }
    }

    @Test func `the source goes on when the slowest reader leaves`() throws {
        let body = SharedBody(limit: 1)
        let slow = try #require(body.open())
        let quick = try #require(body.open())
        while body.append(Self.piece(1, 64 * 1024)) {}
        _ = self.drain(body, quick)
        let resumed = Locked(false)
        body.whenRoom { resumed.withLock { $0 = true } }
        _ = body.close(slow)
        #expect(resumed.withLock { $0 })
    }

    /// A body of which one reader has read all there is, and for which its source waits.
    private func heldUpBody() throws -> (body: SharedBody, quick: SharedBody.Reader, slow: [SharedBody.Reader]) {
        let body = SharedBody(limit: 1)
        let slow = try (0..<3).map { _ in try #require(body.open()) }
        let quick = try #require(body.open())
        while body.append(Self.piece(1, 64 * 1024)) {}
        _ = self.drain(body, quick)
        return (body, quick, slow)
    }

    @Test func `LOOK-77 readers that hardly read are let go where others wait for them`() throws {
        let (body, quick, slow) = try self.heldUpBody()
        // One reader is ahead of the others.
        _ = body.next(slow[1], wake: {})
        body.markReaders()
        let resumed = Locked(false)
        body.whenRoom { resumed.withLock { $0 = true } }
        // The last one moves, though hardly.
        _ = body.next(slow[2], wake: {})
        #expect(body.letStragglersGo() && body.hasRoom && resumed.withLock { $0 })
        for reader in slow.prefix(2) {
            guard case .end(let error?) = body.next(reader, wake: {}) else {
                return #expect(Bool(false), "it was let go")
            }
            #expect(error.message.contains("too slowly"))
            #expect(!body.close(reader))
        }
        #expect(self.drain(body, slow[2]).count == 3 * 64 * 1024)
        #expect(body.append(Self.piece(2, 10)))
        #expect(self.drain(body, quick).count == 10 && self.drain(body, slow[2]).count == 10)
        #expect(!body.close(slow[2]) && body.close(quick))
    }

    @Test func `LOOK-77 readers that nobody waits for stay, and so do those that read`() throws {
        let (body, quick, slow) = try self.heldUpBody()
        _ = body.append(Self.piece(1, 1))
        body.markReaders()
        // No reader has read everything.
        #expect(body.letStragglersGo() && !body.hasRoom)
        _ = self.drain(body, quick)
        // Each slow reader has read a window since.
        for reader in slow { _ = self.drain(body, reader) }
        while body.append(Self.piece(1, 64 * 1024)) {}
        _ = self.drain(body, quick)
        #expect(!body.letStragglersGo() && !body.hasRoom)
        for reader in slow { #expect(self.drain(body, reader).count >= SharedBody.window) }
        // Readers that were let go do not keep a body open.
        while body.append(Self.piece(1, 64 * 1024)) {}
        body.markReaders()
        _ = self.drain(body, quick)
        #expect(body.letStragglersGo() && body.close(quick) && body.closeIfUnread())
        for reader in slow { #expect(body.close(reader)) }
    }
}
