// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import PintleSystem

/// State shared by the connections of an origin: the recorded requests, the tasks that wait for them, and the open
/// channels.
final class ScriptedOriginCore: Sendable {
    typealias Request = ScriptedOrigin.Request
    typealias Outcome = Result<[Request], ScriptedOriginError>

    private struct State {
        var requests: [Request] = []
        var connectionCount = 0
        var channels: [Int: any Channel] = [:]
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        var isStopped = false
    }

    private struct Waiter {
        let count: Int
        let continuation: CheckedContinuation<Outcome, Never>
    }

    let answer: @Sendable (Request) async throws -> ScriptedOrigin.Answer
    private let state = Locked(State())

    init(answer: @escaping @Sendable (Request) async throws -> ScriptedOrigin.Answer) { self.answer = answer }

    var requests: [Request] { self.state.withLock { $0.requests } }
    var connectionCount: Int { self.state.withLock { $0.connectionCount } }

    /// Starts a connection; called on the channel's event loop.
    func accept(_ channel: any Channel) throws {
        let number = self.state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.connectionCount += 1
            state.channels[state.connectionCount] = channel
            return state.connectionCount
        }
        // The bootstrap closes a channel for which this throws.
        guard let number else { throw ChannelError.ioOnClosedChannel }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { _ = $0.channels.removeValue(forKey: number) }
        }
        try channel.pipeline.syncOperations.addHandler(
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
        let stream = try NIOAsyncChannel<HTTPServerRequestPart, Never>(wrappingChannelSynchronously: channel)
        Task { await ScriptedOriginConnection(core: self, number: number, channel: channel).run(stream) }
    }

    func record(_ request: Request) {
        let (all, done) = self.state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            let done = state.waiters.filter { $0.value.count <= count }
            for key in done.keys { state.waiters[key] = nil }
            return (done.isEmpty ? [] : state.requests, done)
        }
        for waiter in done.values { waiter.continuation.resume(returning: .success(all)) }
    }

    func requests(count: Int) async throws(ScriptedOriginError) -> [Request] {
        let number = self.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // If the task was cancelled before the waiter is registered, the handler below does not find it, but
                // `isCancelled` is already true here.
                let now = self.state.withLock { state -> Outcome? in
                    let came = state.requests.count
                    if came >= count { return .success(state.requests) }
                    if state.isStopped { return .failure(Self.stopped(came, of: count)) }
                    if Task.isCancelled { return .failure(Self.cancelled(came, of: count)) }
                    state.waiters[number] = Waiter(count: count, continuation: continuation)
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let (waiter, came) = self.state.withLock { state in
                (state.waiters.removeValue(forKey: number), state.requests.count)
            }
            waiter?.continuation.resume(returning: .failure(Self.cancelled(came, of: count)))
        }
        return try outcome.get()
    }

    /// Accepts no more connections, and ends all waits.
    ///
    /// - Returns: the open channels, which the caller must close.
    func stop() -> [any Channel] {
        let (channels, waiters, came) = self.state.withLock { state in
            state.isStopped = true
            defer { state.waiters = [:] }
            return (Array(state.channels.values), state.waiters, state.requests.count)
        }
        for waiter in waiters.values {
            waiter.continuation.resume(returning: .failure(Self.stopped(came, of: waiter.count)))
        }
        return channels
    }

    private static func stopped(_ came: Int, of count: Int) -> ScriptedOriginError {
        ScriptedOriginError(.stopped, "the origin ended when \(came) of \(count) requests had come")
    }

    private static func cancelled(_ came: Int, of count: Int) -> ScriptedOriginError {
        ScriptedOriginError(.cancelled, "the waiting was cancelled when \(came) of \(count) requests had come")
    }
}
