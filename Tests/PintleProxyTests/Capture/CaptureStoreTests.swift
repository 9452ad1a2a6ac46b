// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import PintleProxy

/// The memory for kept bodies.
struct CaptureStoreTests {
    private let store = CaptureStore()

    private func rules(_ filter: String = "", bodies: Int = 1 << 20) throws -> CaptureRules {
        CaptureRules(
            CaptureConfiguration(bodies: bodies, filter: try ExchangeFilter(filter)),
            of: try Policy(Configuration(), file: "test"), in: self.store)
    }

    private func exchange(_ url: String = "http://a.example/") -> ObservedExchange {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: "a-1")
        record.url = url
        return ObservedExchange(record: record, target: .origin(path: "/"), isComplete: true)
    }

    private func capture(_ rules: CaptureRules, _ count: Int) -> ExchangeCapture {
        let capture = ExchangeCapture(rules)
        let piece = [UInt8](repeating: 0x61, count: count)
        piece.withUnsafeBytes { capture.take(response: $0) }
        return capture
    }

    private func bodies(_ rules: CaptureRules, _ count: Int) throws -> CapturedBodies {
        let bodies = try #require(self.capture(rules, count).finish((0, count)))
        if !bodies.isPending { self.store.add(bodies) }
        return bodies
    }

    @Test func `what is not handed over is given back`() throws {
        let rules = try self.rules()
        do {
            let capture = self.capture(rules, 5000)
            #expect(self.store.usage.bytes == 5000 && capture.wantsResponse)
        }
        #expect(self.store.usage.bytes == 0)
        do {
            let bodies = try self.bodies(rules, 5000)
            #expect(self.store.usage.bytes == 5000 && bodies.shown(of: self.exchange(), .on)?.response?.size == 5000)
        }
        #expect(self.store.usage.bytes == 0)
        #expect(ExchangeCapture(rules).finish((0, 0)) == nil)
    }

    @Test func `of a body the beginning is kept, and its length is known`() throws {
        let rules = try self.rules(bodies: 1000)
        let capture = self.capture(rules, 999)
        #expect(capture.wantsResponse)
        [UInt8](repeating: 0x62, count: 50).withUnsafeBytes { capture.take(response: $0) }
        #expect(!capture.wantsResponse && capture.wantsRequest)
        let body = try #require(capture.finish((0, 5000))?.shown(of: self.exchange(), .off)?.response)
        #expect(body.bytes.count == 1000 && body.bytes.last == 0x62 && body.size == 5000 && !body.isWhole)
    }

    @Test func `where there is no room the oldest are forgotten`() throws {
        let rules = try self.rules()
        let count = CaptureStore.mostBytes >> 20
        var kept = try (0..<count).map { _ in try self.bodies(rules, 1 << 20) }
        #expect(self.store.usage.bytes == CaptureStore.mostBytes && self.store.usage.forgotten == 0)
        kept.append(try self.bodies(rules, 1))
        #expect(self.store.usage.forgotten == 1 && kept[0].shown(of: self.exchange(), .on) == nil)
        #expect(kept[1].shown(of: self.exchange(), .on) != nil && kept[count].shown(of: self.exchange(), .on) != nil)
        // Those whose exchanges are forgotten make room without being counted.
        kept.removeFirst(2)
        kept.append(try self.bodies(rules, 1 << 20))
        #expect(self.store.usage.forgotten == 1)
        kept.removeAll()
        #expect(self.store.usage.bytes == 0)
    }

    @Test func `exchanges under way keep what they have, and others get nothing then`() throws {
        let rules = try self.rules()
        var captures = (0..<CaptureStore.mostBytes >> 20).map { _ in self.capture(rules, 1 << 20) }
        let late = self.capture(rules, 10)
        #expect(!late.wantsResponse && !late.wantsRequest)
        let body = late.finish((0, 10))?.shown(of: self.exchange(), .on)?.response
        #expect(body?.bytes.isEmpty == true && body?.size == 10 && body?.isWhole == false)
        captures.removeAll()
        #expect(self.store.usage.bytes == 0)
    }

    @Test func `a filter is asked once, by the first reader at the latest`() throws {
        let rules = try self.rules("~u wanted")
        let (wanted, other) = (try self.bodies(rules, 100), try self.bodies(rules, 100))
        #expect(wanted.isPending && self.store.usage.bytes == 200)
        #expect(wanted.shown(of: self.exchange("http://wanted.example/"), .on) != nil)
        #expect(other.shown(of: self.exchange(), .on) == nil)
        #expect(!wanted.isPending && !other.isPending && self.store.usage.bytes == 100)
        // It is not asked again, whatever the exchange.
        #expect(wanted.shown(of: self.exchange(), .on) != nil)
    }

    @Test func `messages have a bound of their own`() throws {
        let capture = ExchangeCapture(try self.rules(bodies: 1000))
        var kept = 0
        while capture.keep(ByteBuffer(bytes: [UInt8](repeating: 0, count: 5000)), .binary, fromClient: true) {
            kept += 1
        }
        #expect(kept == 16)
        let messages = capture.finish(nil)?.shown(of: self.exchange(), .off)?.messages ?? []
        #expect(messages.count == kept && messages.allSatisfy { $0.bytes.count == 1000 && !$0.isWhole })
    }

    @Test func `a body that unfolds far is shown as far as its bound`() throws {
        let rules = try self.rules()
        let folder = try TemporaryFolder()
        try ChildProcess("/bin/sh", ["-c", "head -c 50000000 /dev/zero | gzip -9 > bomb"], folder: folder.path)
            .waitForExit()
        let packed = try #require(fileBytes("\(folder.path)/bomb"))
        let capture = ExchangeCapture(rules)
        capture.begin(response: ResponseHead(status: 200, fields: ["Content-Encoding": "gzip"]))
        packed.withUnsafeBytes { capture.take(response: $0) }
        let body = try #require(capture.finish((0, packed.count))?.shown(of: self.exchange(), .off)?.response)
        #expect(body.bytes.count <= packed.count * 16 && body.bytes.count > 100_000 && !body.isWhole)
    }
}
