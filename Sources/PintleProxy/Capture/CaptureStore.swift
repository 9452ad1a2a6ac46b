// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintlePolicy
internal import PintleSystem
internal import Synchronization

/// The rules for the bodies that are kept (`capture`), made ready for use.
final class CaptureRules: Sendable {
    /// The most bytes of one body.
    let bodies: Int
    let filter: ExchangeFilter
    let redaction: Redaction
    /// The values that routes put into requests, which an origin may repeat.
    let injected: [String]
    let store: CaptureStore

    init(_ configuration: CaptureConfiguration, of policy: Policy, in store: CaptureStore) {
        (self.bodies, self.filter) = (configuration.bodies, configuration.filter)
        self.redaction = policy.configuration.log.redact ? .on : .off
        self.injected = policy.routes.routes.flatMap(\.configuration.request.injectedTexts)
        self.store = store
    }
}

/// The memory for kept bodies of all exchanges. If it is full, the oldest bodies are forgotten.
package final class CaptureStore: Sendable {
    /// The state of the memory.
    package struct Usage: Sendable {
        /// The bytes that are held, also for exchanges under way.
        package var bytes = 0
        /// The exchanges whose bodies were forgotten to make room.
        package var forgotten = 0
        /// The exchanges whose bodies were dropped, because more ended than the filter could be asked about.
        package var lost = 0
    }

    /// The most bytes of all bodies.
    package static let mostBytes = 64 << 20
    /// The most exchanges that wait for the filter.
    private static let mostPending = 4096
    /// The bytes that are counted for each message of a WebSocket.
    static let overhead = 96

    private struct Reference: Sendable {
        weak let bodies: CapturedBodies?
    }

    private struct State: Sendable {
        /// In the order in which they came.
        var kept: CircularBuffer<Reference> = []
        var pending: [EndedExchange] = []
        /// True while a thread asks the filter.
        var isAsking = false
        var usage = Usage()
    }

    private let held = Atomic<Int>(0)
    private let state = Locked(State())

    package init() {}

    package var usage: Usage {
        var usage = self.state.withLock { $0.usage }
        usage.bytes = self.held.load(ordering: .relaxed)
        return usage
    }

    // MARK: Bytes

    /// Takes room for bytes, if need be from the oldest bodies.
    ///
    /// - Returns: false if exchanges under way have it all.
    func take(_ count: Int) -> Bool {
        while self.held.wrappingAdd(count, ordering: .relaxed).newValue > Self.mostBytes {
            self.held.wrappingSubtract(count, ordering: .relaxed)
            guard self.forgetOldest() else { return false }
        }
        return true
    }

    func giveBack(_ count: Int) { self.held.wrappingSubtract(count, ordering: .relaxed) }

    private func forgetOldest() -> Bool {
        while let oldest = self.state.withLock({ $0.kept.popFirst() }) {
            // Its exchange is forgotten.
            guard let bodies = oldest.bodies else { continue }
            bodies.forget()
            self.state.withLock { $0.usage.forgotten += 1 }
            return true
        }
        return false
    }

    // MARK: Exchanges

    /// Remembers bodies that are kept, so that they can be forgotten.
    func add(_ bodies: CapturedBodies) {
        self.state.withLock { state in
            while let first = state.kept.first, first.bodies == nil { state.kept.removeFirst() }
            state.kept.append(Reference(bodies: bodies))
        }
    }

    /// Takes the bodies of an exchange that has ended; the filter is asked on another thread.
    func take(_ ended: EndedExchange) {
        // None were kept.
        guard let bodies = ended.bodies else { return }
        guard bodies.isPending else { return self.add(bodies) }
        let (isFull, mustAsk) = self.state.withLock { state in
            guard state.pending.count < Self.mostPending else {
                state.usage.lost += 1
                return (true, false)
            }
            state.pending.append(ended)
            defer { state.isAsking = true }
            return (false, !state.isAsking)
        }
        if isFull { bodies.forget() }
        // A thread is asking.
        guard mustAsk else { return }
        do { try ThreadPool.shared.run { self.ask() } } catch {
            // The next exchange tries again.
            self.state.withLock { $0.isAsking = false }
        }
    }

    private func ask() {
        while true {
            let pending = self.state.withLock { state in
                defer { state.pending = [] }
                if state.pending.isEmpty { state.isAsking = false }
                return state.pending
            }
            if pending.isEmpty { return }
            for ended in pending { ended.bodies?.settle(ended.observed) }
        }
    }
}
