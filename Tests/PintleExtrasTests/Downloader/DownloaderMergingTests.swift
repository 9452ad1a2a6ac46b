// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOCore
import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Requests that are one transfer, and the number of transfers at a time.
@Suite(.timeLimit(.minutes(15))) struct DownloaderMergingTests {
    @Test func `IDL-04 requests for one URL are one transfer, whose response and value all get`() async throws {
        let origin = try HeldOrigin()
        let stage = try PictureStage()
        let asked = request(origin.origin.port, "/a")
        // The requests come from many threads at once.
        DispatchQueue.concurrentPerform(iterations: 50) { stage.ask("\($0)", asked) }
        origin.releaseAll()
        let answers = try await stage.reach(50).compactMap(\.answer)
        #expect(origin.paths == ["/a"] && answers.count == 50)
        let first = try #require(answers.first)
        #expect(answers.allSatisfy { $0.value === first.value && $0.response?.value === first.value })
        #expect(stage.downloader.client.session.tasks.isEmpty)
    }

    @Test func `IDL-04 completions are told in the order of asking`() async throws {
        let origin = try HeldOrigin()
        let stage = try PictureStage()
        for name in ["a", "b", "c"] { stage.ask(name, request(origin.origin.port, "/x")) }
        origin.releaseAll()
        try await stage.reach(3)
        #expect(stage.words == ["a: /x", "b: /x", "c: /x"])
    }

    /// Two requests, and whether they are one.
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let first: @Sendable (inout SessionRequest) -> Void
        let second: @Sendable (inout SessionRequest) -> Void
        let isOne: Bool

        init(
            _ description: String, isOne: Bool, _ first: @escaping @Sendable (inout SessionRequest) -> Void = { _ in },
            _ second: @escaping @Sendable (inout SessionRequest) -> Void
        ) {
            self.testDescription = description
            self.first = first
            self.second = second
            self.isOne = isOne
        }
    }

    @Test(arguments: [
        Pair("another field", isOne: false) { $0.fields.set("Accept-Language", "fr") },
        Pair("another value", isOne: false) {
            $0.fields.set("X", "1")
        } _: {
            $0.fields.set("X", "2")
        },
        Pair("another order of values", isOne: false) {
            $0.fields = ["X": "1", "X": "2"]
        } _: {
            $0.fields = ["X": "2", "X": "1"]
        },
        Pair("another order and case of names", isOne: true) {
            $0.fields = ["A": "1", "B": "2"]
        } _: {
            $0.fields = ["b": "2", "a": "1"]
        },
        Pair("another method", isOne: false) { $0.method = "OPTIONS" },
        Pair("a method that may change something", isOne: false) {
            $0.method = "POST"
        } _: {
            $0.method = "POST"
        },
        Pair("other redirects", isOne: false) { $0.redirects = .never },
        Pair("another decompression", isOne: false) { $0.decompression = .off },
        Pair("the default, spelled out", isOne: true) {
            $0.decompression = .on
            $0.redirects = .all
        },
        Pair("another time limit", isOne: true) { $0.timeout = .seconds(7) },
        Pair("only the cache", isOne: false) { $0.cachePolicy = .onlyCache },
    ])
    func `IDL-15 requests are merged that the origin could not tell apart`(pair: Pair) async throws {
        let origin = try HeldOrigin()
        let stage = try PictureStage()
        var (first, second) = (request(origin.origin.port, "/a"), request(origin.origin.port, "/a"))
        pair.first(&first)
        pair.second(&second)
        let one = try #require(stage.ask("one", first))
        let other = try #require(stage.ask("other", second))
        #expect((one.task === other.task) == pair.isOne)
        origin.releaseAll()
        try await stage.reach(2)
    }

    @Test func `IDL-16 a request that passes the cache over joins a transfer, unless that may come from a cache`()
        async throws
    {
        struct NoCache: ResponseCache {
            func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? { nil }
            func store(_ response: CachedResponse, to request: SessionRequest) async {}
        }
        let origin = try HeldOrigin()
        var configuration = SessionConfiguration()
        for hasCache in [false, true] {
            configuration.cache = hasCache ? NoCache() : nil
            let stage = try PictureStage(configuration: configuration)
            let asked = request(origin.origin.port, "/a")
            var anew = asked
            anew.cachePolicy = .ignoreLocal
            let one = try #require(stage.ask("one", asked))
            let other = try #require(stage.ask("other", anew))
            #expect((one.task === other.task) == !hasCache)
            stage.downloader.cancel(one)
            stage.downloader.cancel(other)
        }
    }

    @Test(arguments: [
        (TransferQueue.Order.firstInFirstOut, ["/5", "/6"]), (.lastInFirstOut, ["/6", "/5"]),
    ])
    func `IDL-17 of six transfers four run, and each that ends starts one in the downloader's order`(
        order: TransferQueue.Order, expected: [String]
    ) async throws {
        let origin = try HeldOrigin()
        let stage = try PictureStage(order: order)
        for number in 1...6 { stage.ask("\(number)", request(origin.origin.port, "/\(number)")) }
        try await origin.origin.reachRequests(4)
        #expect(stage.downloader.runningCount == 4 && stage.downloader.waitingCount == 2)
        #expect(Set(origin.paths) == ["/1", "/2", "/3", "/4"])
        origin.release("/1")
        try await origin.origin.reachRequests(5)
        origin.release("/2")
        try await origin.origin.reachRequests(6)
        #expect(origin.paths.suffix(2) == expected)
        origin.releaseAll()
        try await stage.reach(6)
        #expect(origin.load.current.most == 4)
    }
}
