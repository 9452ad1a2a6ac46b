// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// A slot shows the last value that was requested.
@Suite(.timeLimit(.minutes(15))) struct DownloadSlotTests {
    private typealias Slot = DownloadSlot<Picture>

    private let held: HeldOrigin
    private let placeholder = Picture("placeholder")

    init() throws { self.held = try HeldOrigin { $0.target == "/gone" ? answer(404, [], "") : response($0.target) } }

    private func stage(_ cache: PictureCache? = PictureCache()) throws -> PictureStage {
        try PictureStage(cache: cache)
    }

    private func url(_ path: String) -> String { "http://127.0.0.1:\(self.held.origin.port)\(path)" }

    /// Waits until the slot shows this text.
    private func see(_ text: String?, in slot: Slot) async {
        for await value in slot.valueStream where value?.text == text { return }
    }

    @Test func `UII-01 UIB-01 a slot shows what it loads`() async throws {
        let stage = try self.stage()
        let slot = Slot(stage.downloader)
        #expect(slot.value == nil && !slot.isLoading && slot.receipt == nil)
        slot.load(self.url("/a"))
        #expect(slot.value == nil && slot.isLoading && slot.receipt?.task.state == .running)
        self.held.releaseAll()
        await self.see("/a", in: slot)
        #expect(slot.value?.text == "/a" && !slot.isLoading && slot.receipt == nil)
    }

    @Test func `UII-02 UII-03 the same URL twice is one transfer, and the second call takes the place of the first`()
        async throws
    {
        let stage = try self.stage()
        let slot = Slot(stage.downloader)
        let told = Watched<[String]>([])
        slot.load(self.url("/a"), success: { _ in told.change { $0.append("first") } })
        let task = try #require(slot.receipt?.task)
        slot.load(
            self.url("/a"), placeholder: self.placeholder, success: { _ in told.change { $0.append("second") } })
        #expect(slot.value === self.placeholder && slot.receipt?.task === task && task.state == .running)
        self.held.releaseAll()
        try await told.reach("a success") { !$0.isEmpty }
        #expect(told.current == ["second"] && self.held.paths == ["/a"])
    }

    @Test func `UII-04 after a failure the placeholder stays`() async throws {
        self.held.releaseAll()
        let stage = try self.stage()
        let slot = Slot(stage.downloader)
        let told = Watched<[SessionError.Code]>([])
        slot.load(
            self.url("/gone"), placeholder: self.placeholder,
            failure: { error in
                told.change { $0.append(error.code) }
            })
        try await told.reach("the failure") { $0 == [.rejected] }
        #expect(slot.value === self.placeholder && !slot.isLoading)
    }

    @Test func `UII-04 a failure at once shows the placeholder, too`() async throws {
        let stage = try self.stage()
        await stage.downloader.client.session.invalidateAndCancel()
        let slot = Slot(stage.downloader, showing: Picture("earlier"))
        slot.load(self.url("/a"), placeholder: self.placeholder)
        #expect(slot.value === self.placeholder && !slot.isLoading)
    }

    @Test func `UII-05 what the cache has is shown at once, without a placeholder and without a response`()
        async throws
    {
        self.held.releaseAll()
        let stage = try self.stage()
        let picture = try await stage.downloader.value(for: request(self.held.origin.port, "/a"))
        let slot = Slot(stage.downloader)
        slot.load(self.url("/a"), placeholder: self.placeholder)
        #expect(slot.value === picture && !slot.isLoading)
        let told = Watched<[Bool]>([])
        slot.load(
            self.url("/a"),
            success: { answer in
                told.change { $0.append(answer.value === picture && answer.response == nil) }
            })
        #expect(told.current == [true])
        // The policy of a request counts here, too.
        var anew = request(self.held.origin.port, "/a")
        anew.cachePolicy = .ignoreLocal
        slot.load(anew, success: { answer in told.change { $0.append(answer.response != nil) } })
        try await told.reach("another transfer") { $0 == [true, true] }
    }

    @Test func `UII-06 UIB-02 what is cancelled and loaded again is shown`() async throws {
        let stage = try self.stage()
        let slot = Slot(stage.downloader)
        slot.load(self.url("/a"))
        let first = try #require(slot.receipt)
        slot.cancel()
        #expect(!slot.isLoading && slot.receipt == nil)
        slot.load(self.url("/a"))
        #expect(slot.receipt?.task !== first.task)
        self.held.releaseAll()
        await self.see("/a", in: slot)
        #expect(slot.value?.text == "/a")
    }

    @Test(arguments: [nil, "no URL"])
    func `UII-07 UIB-05 without a URL the placeholder is shown, and that is a failure`(
        url: String?
    ) throws {
        let stage = try self.stage()
        let slot = Slot(stage.downloader, showing: Picture("earlier"))
        let told = Watched<[SessionError.Code]>([])
        slot.load(url, placeholder: self.placeholder, failure: { error in told.change { $0.append(error.code) } })
        #expect(told.current == [.invalidURL] && slot.value === self.placeholder && !slot.isLoading)
        slot.load(url)
        #expect(slot.value == nil && told.current.count == 1)
    }

    @Test func `UII-08 with a success of its own the slot leaves the value to it`() async throws {
        self.held.releaseAll()
        let stage = try self.stage()
        let slot = Slot(stage.downloader)
        let told = Watched<[String]>([])
        slot.load(
            self.url("/a"), placeholder: self.placeholder,
            success: { answer in
                told.change { $0.append(answer.value.text) }
            })
        try await told.reach("the success") { $0 == ["/a"] }
        #expect(slot.value === self.placeholder)
        slot.value = Picture("mine")
        #expect(slot.value?.text == "mine")
    }

    @Test func `UII-09 UIW-01 a load that another one has replaced, or that was cancelled, says nothing more`()
        async throws
    {
        let stage = try self.stage()
        let slot = Slot(stage.downloader)
        let told = Watched<[String]>([])
        let tell: @Sendable (String) -> Slot.Failure = { name in { _ in told.change { $0.append(name) } } }
        slot.load(self.url("/a"), failure: tell("replaced"))
        let first = try #require(slot.receipt?.task)
        slot.load(self.url("/b"), failure: tell("cancelled"))
        let second = try #require(slot.receipt?.task)
        slot.cancel()
        for task in [first, second] { #expect(await sessionError { _ = try await task.value() }?.code == .cancelled) }
        slot.load(self.url("/c"), failure: tell("replaced by nothing"))
        let third = try #require(slot.receipt?.task)
        slot.load(self.url("/d"))
        self.held.releaseAll()
        await self.see("/d", in: slot)
        _ = await sessionError { _ = try await third.value() }
        #expect(told.current.isEmpty && slot.value?.text == "/d")
    }

    @Test func `UII-10 UII-12 without a URL what was loaded before is cancelled`() async throws {
        let stage = try self.stage()
        let slot = Slot(stage.downloader)
        slot.load(self.url("/a"))
        let task = try #require(slot.receipt?.task)
        slot.load(nil, placeholder: self.placeholder)
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(slot.value === self.placeholder && !slot.isLoading)
    }

    @Test func `a slot that goes cancels what it loads, and nobody is told`() async throws {
        let stage = try self.stage()
        let told = Watched(0)
        var slot: Slot? = Slot(stage.downloader)
        weak let gone = slot
        slot?.load(
            self.url("/a"), success: { _ in told.change { $0 += 1 } }, failure: { _ in told.change { $0 += 1 } })
        let task = try #require(slot?.receipt?.task)
        slot = nil
        #expect(gone == nil)
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(told.current == 0)
    }

    @Test func `UIB-03 UIB-04 slots are independent, one for each state that a program has`() async throws {
        enum State: CaseIterable { case normal, highlighted, selected, disabled }
        let stage = try self.stage()
        var images: [State: Slot] = [:]
        var backgrounds: [State: Slot] = [:]
        for state in State.allCases {
            images[state] = Slot(stage.downloader)
            backgrounds[state] = Slot(stage.downloader)
            images[state]?.load(self.url("/image"))
            backgrounds[state]?.load(self.url("/background"))
        }
        // All share one transfer, which continues for the others.
        images[.normal]?.cancel()
        self.held.releaseAll()
        for state in State.allCases {
            await self.see("/background", in: try #require(backgrounds[state]))
            if state != .normal { await self.see("/image", in: try #require(images[state])) }
        }
        #expect(images[.normal]?.value == nil && Set(self.held.paths) == ["/image", "/background"])
        #expect(self.held.paths.count == 2)
    }
}
