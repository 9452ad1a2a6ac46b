// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleCacheStore
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleSession
import PintleSystem
import PintleTesting
import Testing

@testable import PintleProxy

/// Answers to requests that change something, and the removals for which they wait.
struct ChangingOriginTests {
    /// Writes down what it hears.
    private final class Listener: TransferDelegate {
        private let heard: Watched<[String]>

        init(_ heard: Watched<[String]>) { self.heard = heard }

        private func note(_ words: String) { self.heard.change { $0.append(words) } }

        func originSent(interim head: ResponseHead) { self.note("interim \(head.status)") }
        func originAnswered(_ head: ResponseHead, length: UInt64?) { self.note("\(head.status)") }
        func originSent(_ bytes: UnsafeRawBufferPointer) { self.note(String(decoding: bytes, as: UTF8.self)) }
        func originSent(trailers fields: Fields) { self.note("trailers") }
        func originTookBody(_ count: Int) {}
        func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {}
        func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) { self.note("end") }
    }

    private let folder: TemporaryFolder
    private let gate = HeldStore.Gate()
    private let cache = SharedCache(CacheConfiguration())

    init() throws { self.folder = try TemporaryFolder() }

    private func open() async throws {
        let disk = try await DiskCache.open("\(self.folder.path)/cache", capacity: 100 << 20) { _ in }
        self.cache.open(HeldStore(store: DiskStore(cache: disk), gate: self.gate, reading: HeldStore.Gate()))
    }

    private static func request(_ method: String) -> TransferRequest {
        TransferRequest(
            method: method, scheme: .http, authority: Authority(host: "a.test", port: 80), path: "/a")
    }

    /// Plays a whole answer within one turn of a loop.
    private func answer(
        _ status: UInt16, on loop: Loop, for heard: Watched<[String]>, cancels: Bool = false
    ) {
        let cache = self.cache
        loop.execute {
            let request = Self.request("POST")
            guard let key = ChangingOrigin.key(of: request) else { return heard.change { $0.append("no key") } }
            var recording: RecordingOrigin?
            // The stream keeps no delegate; the test calls it.
            let origin = ChangingOrigin(request, key, cache, for: Listener(heard), on: loop) { request, _ in
                let made = RecordingOrigin(consume request, Transcript())
                recording = made
                return made
            }
            origin.originAnswered(ResponseHead(status: status), length: nil)
            Array("body".utf8).withUnsafeBytes { origin.originSent($0) }
            if cancels { origin.cancel() }
            recording?.end()
            if !cancels { origin.originEnded(nil, TransferMetrics()) }
        }
    }

    @Test func `an answer waits until the disk has removed what the request has changed`() async throws {
        try await self.open()
        let engine = try Engine(threads: 1)
        let loop = engine.loops[0]
        self.gate.close()
        let (first, second) = (Watched<[String]>([]), Watched<[String]>([]))
        self.answer(201, on: loop, for: first)
        // A failure has changed nothing, and so waits for nothing.
        self.answer(500, on: loop, for: second)
        try await second.reach("the failure") { $0 == ["500", "body", "end"] }
        while !self.gate.isWaitedAt { await Task.yield() }
        #expect(first.current == [])
        self.gate.open()
        try await first.reach("the answer") { $0 == ["201", "body", "end"] }
        await self.cache.closeDisk()
        await engine.stopped()
    }

    @Test func `without a disk an answer does not wait`() async throws {
        let engine = try Engine(threads: 1)
        let heard = Watched<[String]>([])
        self.answer(201, on: engine.loops[0], for: heard)
        try await heard.reach("the answer") { $0 == ["201", "body", "end"] }
        await engine.stopped()
    }

    @Test func `a client that leaves meanwhile hears nothing`() async throws {
        try await self.open()
        let engine = try Engine(threads: 1)
        let loop = engine.loops[0]
        self.gate.close()
        let (first, second) = (Watched<[String]>([]), Watched<[String]>([]))
        self.answer(201, on: loop, for: first, cancels: true)
        self.answer(201, on: loop, for: second)
        while !self.gate.isWaitedAt { await Task.yield() }
        self.gate.open()
        try await second.reach("the answer to the other") { $0 == ["201", "body", "end"] }
        #expect(first.current == [])
        await self.cache.closeDisk()
        await engine.stopped()
    }

    @Test func `safe methods and tunnels change nothing`() {
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"] {
            #expect(ChangingOrigin.key(of: Self.request(method)) == nil)
        }
        var tunnel = Self.request("POST")
        tunnel.connectOnly = true
        #expect(ChangingOrigin.key(of: tunnel) == nil)
        for method in ["POST", "PUT", "DELETE", "PATCH", "MOVE"] {
            #expect(ChangingOrigin.key(of: Self.request(method))?.url == "http://a.test/a")
        }
    }
}
