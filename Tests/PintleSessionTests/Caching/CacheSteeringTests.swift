// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Tasks that are suspended and cancelled while their cache is asked.
@Suite(.timeLimit(.minutes(15))) struct CacheSteeringTests {
    enum Moment: CaseIterable, Sendable {
        case miss, hit, confirmation
    }

    /// Suspends the task that asks for `/it` while it is asked.
    private final class SuspendingCache: ResponseCache {
        let task = Watched<SessionTask?>(nil)
        let hasSuspended = Watched(false)
        private let moment: Moment

        init(_ moment: Moment) { self.moment = moment }

        private func suspend() {
            let task = self.task.change { task -> SessionTask? in
                defer { task = nil }
                return task
            }
            task?.suspend()
            self.hasSuspended.change { $0 = true }
        }

        @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? {
            guard request.url.path == "/it" else { return nil }
            if self.moment != .confirmation { self.suspend() }
            let conditions: Fields = self.moment == .confirmation ? ["If-None-Match": "\"1\""] : [:]
            let kept = CachedResponse(
                head: ResponseHead(status: 200), body: ByteBuffer(string: "kept"), conditions: conditions)
            return self.moment == .miss ? nil : kept
        }

        @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async {}

        @concurrent func confirmed(
            _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
        ) async -> CachedResponse? {
            self.suspend()
            return response
        }
    }

    private let origin: RawOrigin

    init() throws {
        self.origin = try PintleTesting.origin { request in
            request["If-None-Match"] == nil ? answer(200, [], "new") : answer(304)
        }
    }

    /// Returns a task that its cache has suspended, and its stage. The only loop has had the time to continue the task.
    private func suspendedTask(at moment: Moment) async throws -> (stage: SessionStage, task: SessionTask) {
        let cache = SuspendingCache(moment)
        var configuration = SessionConfiguration()
        configuration.cache = cache
        let stage = try SessionStage(configuration: configuration)
        let task = try stage.session.dataTask(request(self.origin.port, "/it"))
        cache.task.change { $0 = task }
        task.resume()
        try await cache.hasSuspended.reach("the suspension") { $0 }
        for _ in 0..<3 { _ = try await stage.data(for: request(self.origin.port, "/other")) }
        return (stage, task)
    }

    @Test(arguments: Moment.allCases)
    func `a task that its cache suspends goes no further until it is resumed`(moment: Moment) async throws {
        let (stage, task) = try await self.suspendedTask(at: moment)
        #expect(task.state == .suspended)
        let own = self.origin.requests.map(\.target).filter { $0 == "/it" }
        #expect(own.count == (moment == .confirmation ? 1 : 0))
        task.resume()
        #expect(try await task.value().text == (moment == .miss ? "new" : "kept"))
        withExtendedLifetime(stage) {}
    }

    @Test func `a task that is cancelled behind a 304 has not ended well`() async throws {
        let (stage, task) = try await self.suspendedTask(at: .confirmation)
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(task.metrics.transactions.count == 1)
        withExtendedLifetime(stage) {}
    }
}
