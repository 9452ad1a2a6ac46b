// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Hooks that do not answer, whatever is asked of them, until the test is over.
@Suite(.timeLimit(.minutes(15))) struct StuckHookTests {
    /// Holds every caller, cancelled or not.
    private final class Jam: Sendable {
        private struct State: Sendable {
            var isOpen = false
            var held: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Watched(State())

        func hold() async {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOpen = self.state.change { state in
                    if !state.isOpen { state.held.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func hold<Value: Sendable>(returning value: Value) async -> Value {
            await self.hold()
            return value
        }

        func wait() async throws { try await self.state.reach("somebody to be held") { !$0.held.isEmpty } }

        deinit { precondition(self.state.current.held.isEmpty, "the jam was not opened") }

        func open() {
            let held = self.state.change { state in
                state.isOpen = true
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }
    }

    private struct StuckCache: ResponseCache {
        let jam: Jam
        let place: Place

        @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? {
            if self.place == .cacheAsked { await self.jam.hold() }
            guard self.place == .cacheConfirms else { return nil }
            return CachedResponse(
                head: ResponseHead(status: 200), body: ByteBuffer(), conditions: ["If-None-Match": "*"])
        }
        @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async { await self.jam.hold() }
        @concurrent func confirmed(
            _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
        ) async -> CachedResponse? {
            await self.jam.hold()
            return response
        }
        @concurrent func invalidate(
            after response: ResponseHead, to request: SessionRequest, requestTime: ContinuousClock.Instant
        ) async {
            await self.jam.hold()
        }
    }

    enum Place: CaseIterable, Sendable {
        case redirect, challenge, body, response, willCache, destination, choice, cacheAsked, cacheOffered,
            cacheConfirms
        case cacheInvalidates
    }

    private func stuckHooks(_ place: Place, _ jam: Jam) -> RecordedHooks {
        RecordedHooks { answers in
            switch place {
            case .redirect: answers.redirect = { _, _ in await jam.hold(returning: nil) }
            case .challenge: answers.challenge = { _ in await jam.hold(returning: .performDefault) }
            case .body: answers.body = { await jam.hold(returning: nil) }
            case .response: answers.response = { _, _ in await jam.hold(returning: .allow) }
            case .willCache: answers.cache = { await jam.hold(returning: $0) }
            case .destination: answers.destination = { _ in await jam.hold(returning: nil) }
            case .choice, .cacheAsked, .cacheOffered, .cacheConfirms, .cacheInvalidates: break
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `a task that is cancelled does not wait for a hook`(place: Place) async throws {
        let jam = Jam()
        defer { jam.open() }
        let origin = try origin { request in
            switch request.target {
            case "/redirect": answer(302, ["Location: /there"])
            case "/challenge": answer(401, ["WWW-Authenticate: Basic realm=\"r\""])
            case "/cacheConfirms": answer(304)
            default: answer(200, [], "body")
            }
        }
        var configuration = SessionConfiguration()
        let folder = try TemporaryFolder()
        configuration.temporaryFolder = folder.path
        if [.willCache, .cacheAsked, .cacheOffered, .cacheConfirms, .cacheInvalidates].contains(place) {
            configuration.cache = StuckCache(jam: jam, place: place)
        }
        let stage = try SessionStage(configuration: configuration, hooks: self.stuckHooks(place, jam))
        let method = place == .body ? "PUT" : place == .cacheInvalidates ? "DELETE" : "GET"
        let asked = request(origin.port, "/\(place)", method: method)
        let task =
            switch place {
            case .body: try stage.session.uploadTask(asked, from: nil)
            case .destination: try stage.session.downloadTask(asked, to: .temporary)
            case .choice:
                try stage.session.downloadTask(asked, to: .choosing { _, _ in await jam.hold(returning: nil) })
            default: try stage.session.dataTask(asked)
            }
        task.resume()
        try await jam.wait()
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(stage.session.tasks.isEmpty && stage.session.runningTransfers() == 0)
        // Nothing waits for the hook: the session can be ended too.
        await stage.session.finishTasksAndInvalidate()
    }

    @Test func `a hook that is stuck does not outlast the time that a task has`() async throws {
        let jam = Jam()
        defer { jam.open() }
        var configuration = SessionConfiguration()
        configuration.resourceTimeout = .milliseconds(200)
        let origin = try RawOrigin(answering: response("body"))
        let stage = try SessionStage(configuration: configuration, hooks: self.stuckHooks(.response, jam))
        #expect(await stage.failure(of: request(origin.port))?.code == .timeout)
    }
}
