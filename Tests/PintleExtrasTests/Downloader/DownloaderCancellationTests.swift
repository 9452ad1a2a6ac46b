// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Receipts that are cancelled, and the outcome of the others.
@Suite(.timeLimit(.minutes(15))) struct DownloaderCancellationTests {
    private let held: HeldOrigin
    private let stage: PictureStage

    init() throws {
        self.held = try HeldOrigin()
        self.stage = try PictureStage(limit: 2)
    }

    private func asked(_ path: String) -> SessionRequest { request(self.held.origin.port, path) }

    private func ask(_ path: String, as name: String? = nil) throws -> DownloadReceipt {
        try #require(self.stage.ask(name ?? path, self.asked(path)))
    }

    @Test func `IDL-08 who cancels is told at once, and the task with it`() async throws {
        let receipt = try self.ask("/a")
        self.stage.downloader.cancel(receipt)
        #expect(self.stage.words == ["/a: cancelled"])
        let error = self.stage.told.current.first.flatMap { told -> SessionError? in
            guard case .failure(let error) = told.result else { return nil }
            return error
        }
        #expect(
            error?.message == "the download of 127.0.0.1:\(self.held.origin.port) was cancelled by its receipt")
        #expect(await sessionError { _ = try await receipt.task.value() }?.code == .cancelled)
    }

    @Test func `IDL-09 one of two cancels and the other one gets the value`() async throws {
        let first = try self.ask("/a", as: "first")
        let second = try self.ask("/a", as: "second")
        #expect(first.task === second.task)
        self.stage.downloader.cancel(second)
        #expect(self.stage.words == ["second: cancelled"])
        self.held.releaseAll()
        let answer = try #require(try await self.stage.reach(2).last?.answer)
        #expect(self.stage.words == ["second: cancelled", "first: /a"] && answer.response?.head.status == 200)
    }

    @Test func `IDL-10 five that are cancelled and asked for again bring five values`() async throws {
        let paths = (1...5).map { "/\($0)" }
        for receipt in try paths.map({ try self.ask($0, as: "first round") }) { self.stage.downloader.cancel(receipt) }
        for path in paths { _ = try self.ask(path) }
        self.held.releaseAll()
        try await self.stage.reach(10)
        let words = self.stage.words
        #expect(words.prefix(5).allSatisfy { $0 == "first round: cancelled" })
        #expect(words.dropFirst(5).sorted() == paths.map { "\($0): \($0)" })
    }

    @Test func `IDL-18 cancelling after the completion does nothing`() async throws {
        self.held.releaseAll()
        let receipt = try self.ask("/a")
        try await self.stage.reach(1)
        self.stage.downloader.cancel(receipt)
        self.stage.downloader.cancel(receipt)
        #expect(self.stage.words == ["/a: /a"] && receipt.task.error == nil)
    }

    @Test func `a receipt of another downloader does nothing`() async throws {
        let other = try PictureStage()
        let receipt = try self.ask("/a")
        _ = other.ask("other", self.asked("/a"))
        other.downloader.cancel(receipt)
        #expect(other.words.isEmpty && self.stage.words.isEmpty)
        self.held.releaseAll()
        try await self.stage.reach(1)
        try await other.reach(1)
        #expect(self.stage.words == ["/a: /a"] && other.words == ["other: /a"])
    }

    @Test func `IDL-19 who asks again has a transfer of its own, which the late end of the old one does not touch`()
        async throws
    {
        let old = try self.ask("/a", as: "old")
        try await self.held.origin.reachRequests(1)
        self.stage.downloader.cancel(old)
        let new = try self.ask("/a", as: "new")
        #expect(new.task !== old.task && new != old)
        _ = await sessionError { _ = try await old.task.value() }
        try await self.held.origin.reachRequests(2)
        #expect(self.stage.words == ["old: cancelled"])
        self.held.releaseAll()
        try await self.stage.reach(2)
        #expect(self.stage.words == ["old: cancelled", "new: /a"])
    }

    @Test func `IDL-20 the maximum holds when those that wait are cancelled`() async throws {
        let receipts = try (1...8).map { try self.ask("/\($0)") }
        try await self.held.origin.reachRequests(2)
        for receipt in receipts[2..<6] { self.stage.downloader.cancel(receipt) }
        #expect(self.stage.downloader.runningCount == 2 && self.stage.downloader.waitingCount == 2)
        for receipt in receipts[2..<6] { _ = try? await receipt.task.value() }
        for number in 9...12 { _ = try self.ask("/\(number)") }
        #expect(self.stage.downloader.runningCount == 2 && self.stage.downloader.waitingCount == 6)
        self.held.releaseAll()
        try await self.stage.reach(12)
        #expect(self.held.load.current.most == 2)
        #expect(Set(self.held.paths) == Set([1, 2, 7, 8, 9, 10, 11, 12].map { "/\($0)" }))
    }

    @Test func `a task that is cancelled itself ends for all who wait, before its turn too`() async throws {
        let receipts = try ["/1", "/2", "/3", "/3"].map { try self.ask($0) }
        #expect(self.stage.downloader.waitingCount == 1)
        receipts[3].task.cancel()
        try await self.stage.reach(2)
        #expect(self.stage.words == ["/3: cancelled", "/3: cancelled"] && self.stage.downloader.waitingCount == 0)
        receipts[0].task.cancel()
        try await self.stage.reach(3)
        self.held.releaseAll()
        try await self.stage.reach(4)
        #expect(self.stage.words.suffix(2) == ["/1: cancelled", "/2: /2"])
        #expect(self.stage.downloader.runningCount == 0)
    }

    @Test func `cancelling the Swift task that waits cancels its receipt alone`() async throws {
        let (downloader, asked) = (self.stage.downloader, self.asked("/a"))
        let kept = try self.ask("/a", as: "kept")
        let waiting = Task { try await downloader.value(for: asked) }
        try await self.held.origin.reachRequests(1)
        waiting.cancel()
        #expect(await sessionError { _ = try await waiting.value }?.code == .cancelled)
        #expect(kept.task.state == .running && self.stage.words.isEmpty)
        self.held.releaseAll()
        try await self.stage.reach(1)
        #expect(self.stage.words == ["kept: /a"] && self.held.paths == ["/a"])
    }

    @Test func `many that wait and cancel leave nothing behind`() async throws {
        self.held.releaseAll()
        let downloader = self.stage.downloader
        await withDiscardingTaskGroup { group in
            for number in 0..<200 {
                let asked = self.asked("/\(number % 7)")
                group.addTask {
                    let waiting = Task { try await downloader.value(for: asked) }
                    if number % 3 == 0 { waiting.cancel() }
                    let result = await waiting.result
                    switch result {
                    case .success(let picture): #expect(picture.text == asked.url.path)
                    case .failure(let error): #expect((error as? SessionError)?.code == .cancelled)
                    }
                }
            }
        }
        #expect(downloader.waitingCount == 0 && self.held.load.current.most <= 2)
    }
}
