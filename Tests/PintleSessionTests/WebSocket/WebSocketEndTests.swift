// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleWebSocket
import Testing

/// Ends of WebSockets that the server has no part in: of their sessions and tasks, by cancelling, by silence.
@Suite(.timeLimit(.minutes(15))) struct WebSocketEndTests {
    /// An origin that says with which codes it was closed.
    private static func listening(_ codes: Watched<[UInt16?]>) throws -> RawOrigin {
        try socketOrigin { peer in
            let close = try peer.readFrame(8)
            codes.change { $0.append(close.code) }
            try peer.finish(after: close)
        }
    }

    @Test func `a session that is invalidated closes its WebSockets`() async throws {
        let codes = Watched<[UInt16?]>([])
        let origin = try Self.listening(codes)
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        let reading = Task { try await socket.receive() }
        await stage.session.invalidateAndCancel()
        #expect(await sessionError { _ = try await reading.value }?.code == .cancelled)
        #expect(await sessionError { try await socket.send("late") } != nil)
        #expect(try await codes.reach("a Close") { !$0.isEmpty } == [1001])
        #expect(await sessionError { _ = try await stage.socket(origin.port) }?.code == .invalidated)
    }

    @Test func `a session that finishes its tasks waits for its WebSockets`() async throws {
        let origin = try echoOrigin()
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        let ended = Watched(false)
        let finishing = Task {
            await stage.session.finishTasksAndInvalidate()
            ended.change { $0 = true }
        }
        try await socket.send("still here")
        #expect(try await socket.receive() == .text("still here"))
        #expect(!ended.current)
        await socket.close()
        await finishing.value
    }

    @Test func `a task that is cancelled closes its WebSocket`() async throws {
        let codes = Watched<[UInt16?]>([])
        let origin = try Self.listening(codes)
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        socket.task.cancel()
        #expect(await sessionError { _ = try await messages(of: socket) }?.code == .cancelled)
        #expect(try await codes.reach("a Close") { !$0.isEmpty } == [1001])
    }

    @Test func `who is cancelled while a WebSocket is opened gets none`() async throws {
        let hasEnded = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.waitForEnd()
            hasEnded.change { $0 = true }
        }
        let stage = try SessionStage()
        let opening = Task { try await stage.socket(origin.port) }
        try await origin.reachRequests(1)
        opening.cancel()
        #expect(await sessionError { _ = try await opening.value }?.code == .cancelled)
        try await hasEnded.reach("the end of the connection") { $0 }
        #expect(stage.session.tasks.isEmpty)
    }

    @Test func `who is cancelled while a WebSocket is closed waits no longer`() async throws {
        let mayEnd = Watched(false)
        let origin = try socketOrigin { peer in
            _ = try peer.readFrame(8)
            try mayEnd.wait(for: "the test to end") { $0 }
        }
        var options = WebSocketOptions()
        options.closeTimeout = .seconds(3600)
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port, options: options)
        let closing = Task { await socket.close() }
        closing.cancel()
        await closing.value
        mayEnd.change { $0 = true }
        #expect(socket.closeCode == .abnormal)
    }

    @Test func `a server that answers no ping is gone`() async throws {
        let mayEnd = Watched(false)
        let origin = try socketOrigin { peer in
            _ = try peer.readFrame(9)
            try mayEnd.wait(for: "the test to end") { $0 }
        }
        var options = WebSocketOptions()
        options.keepAlive = .init(interval: .milliseconds(50), timeout: .milliseconds(100))
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port, options: options)
        let error = await sessionError { _ = try await socket.receive() }
        #expect(error?.code == .timeout)
        #expect(error?.message == "127.0.0.1:\(origin.port) was silent for 150 ms, and has answered no ping")
        mayEnd.change { $0 = true }
    }

    @Test func `a server that answers pings stays, also while nobody reads it`() async throws {
        let pings = Watched(0)
        let origin = try socketOrigin { peer in
            // More bytes than are read ahead, so that the pongs come after bytes that are not wanted yet.
            try peer.send(WebSocketPeer.Frame(2, Array(repeating: 1, count: 100_000)))
            while case let frame = try peer.readFrame() {
                if frame.opcode == 8 { return try peer.finish(after: frame) }
                pings.change { $0 += 1 }
                try peer.send(WebSocketPeer.Frame(10, frame.payload))
            }
        }
        var options = WebSocketOptions()
        options.keepAlive = .init(interval: .milliseconds(20), timeout: .milliseconds(200))
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port, options: options)
        try await stage.waitForTimeout(1000)
        #expect(try await socket.receive() == .binary(ByteBuffer(repeating: 1, count: 100_000)))
        let before = pings.current
        try await pings.reach("more pings") { $0 > before + 3 }
        await socket.close()
        #expect(socket.closeCode == .normal)
    }

    @Test func `WebSockets that end in all the ways there are leave no descriptor`() async throws {
        let exit = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let origin = try socketOrigin { peer in
                while case let frame = try peer.readFrame() {
                    if frame.opcode == 8 { return try peer.finish(after: frame) }
                    // The message names the action of the server.
                    switch String(decoding: frame.payload, as: UTF8.self) {
                    case "close": try peer.send(.close(1000))
                    case "break": return peer.stream.reset()
                    case "end": return
                    case "lie": try peer.send(WebSocketPeer.Frame(3))
                    default: try peer.send(WebSocketPeer.Frame(1, frame.payload))
                    }
                }
            }
            try await Self.run(20, origin.port)
            try origin.waitUntilQuiet()
            let before = ProcessFigures.descriptors
            try await Self.run(1000, origin.port)
            try origin.waitUntilQuiet()
            var opened = ProcessFigures.opened(since: before)
            for _ in 0..<10_000 where !opened.isEmpty {
                await Task.yield()
                opened = ProcessFigures.opened(since: before)
            }
            if !opened.isEmpty { note("still open: \(opened)") }
            #expect(opened.isEmpty)
        }
        passOn(exit)
    }

    /// Opens this many WebSockets, 25 at a time, and ends each in a different way.
    private static func run(_ count: Int, _ port: Int) async throws {
        let engine = try Engine(threads: 2)
        let session = try Session(engine: engine)
        var options = WebSocketOptions()
        options.closeTimeout = .seconds(5)
        options.keepAlive = .init(interval: .seconds(100))
        try await withThrowingTaskGroup(of: Void.self) { [options] group in
            for number in 0..<count {
                if number >= 25 { try await group.next() }
                group.addTask {
                    let socket = try await session.webSocket("ws://127.0.0.1:\(port)/", options: options)
                    try await socket.send("hello")
                    _ = try await socket.receive()
                    let word = ["close", "break", "end", "lie", "hello"][number / 4 % 5]
                    try await socket.send(word)
                    switch number % 4 {
                    case 0 where word != "hello": _ = try? await messages(of: socket)
                    case 1: await socket.close()
                    case 2: socket.task.cancel()
                    default: break
                    }
                }
            }
            try await group.waitForAll()
        }
        await session.finishTasksAndInvalidate()
        #expect(session.tasks.isEmpty && session.runningTransfers() == 0)
        engine.stop()
    }
}
