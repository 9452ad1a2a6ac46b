// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The way in which an exchange ended.
package enum Outcome: String, BitwiseCopyable, Sendable, CaseIterable {
    /// The client received the whole response.
    case completed
    /// The exchange broke, or a rule refused it.
    case failed
    /// The client left before the end.
    case cancelled
}

/// Counts the exchanges of one route, from any thread, without a lock.
///
/// Get it from ``Counters`` when the route is known, and keep it for the exchange.
package final class RouteCounters: Sendable {
    /// The route's name in the configuration; `-` for exchanges that no route matched.
    package let name: String
    /// The number among all routes that the process has had, from 0. Tables of other rooms are indexed by it, so that they need
    /// not hash names.
    package let number: Int

    private let starts = Atomic<Int>(0)
    private let completions = Atomic<Int>(0)
    private let failures = Atomic<Int>(0)
    private let cancellations = Atomic<Int>(0)
    private let bytesUp = Atomic<Int>(0)
    private let bytesDown = Atomic<Int>(0)
    private let pinFailures = Atomic<Int>(0)
    private let refusedCertificates = Atomic<Int>(0)
    private let cacheHits = Atomic<Int>(0)
    private let cacheMisses = Atomic<Int>(0)
    private let coalescings = Atomic<Int>(0)
    private let recordings = Atomic<Int>(0)
    private let mocks = Atomic<Int>(0)
    private let faults = Atomic<Int>(0)
    private let lostRecordings = Atomic<Int>(0)
    private let tunnelOpenings = Atomic<Int>(0)
    private let tunnelClosings = Atomic<Int>(0)
    /// One counter for each kind of violation, by the kind's index.
    private let violations = InlineArray<11, Atomic<Int>> { _ in Atomic(0) }

    init(name: String, number: Int) { (self.name, self.number) = (name, number) }

    /// Counts an exchange that begins.
    package func started() {
        self.starts.wrappingAdd(1, ordering: .relaxed)
    }

    /// Counts bytes before the end of an exchange: for tunnels and streams, so that hours of traffic do not appear all at
    /// once.
    package func moved(bytesUp: Int, bytesDown: Int) {
        if bytesUp != 0 { self.bytesUp.wrappingAdd(bytesUp, ordering: .relaxed) }
        if bytesDown != 0 { self.bytesDown.wrappingAdd(bytesDown, ordering: .relaxed) }
    }

    /// Counts the end of an exchange.
    ///
    /// - Parameters:
    ///   - outcome: the way in which it ended.
    ///   - bytesUp: body bytes sent upstream and not yet counted by ``moved(bytesUp:bytesDown:)``.
    ///   - bytesDown: body bytes sent to the client and not yet counted.
    package func finished(_ outcome: Outcome, bytesUp: Int, bytesDown: Int) {
        self.moved(bytesUp: bytesUp, bytesDown: bytesDown)
        // Releasing, so that a thread that reads this end also reads its start: `active` is never negative.
        switch outcome {
        case .completed: self.completions.wrappingAdd(1, ordering: .releasing)
        case .failed: self.failures.wrappingAdd(1, ordering: .releasing)
        case .cancelled: self.cancellations.wrappingAdd(1, ordering: .releasing)
        }
    }

    /// Counts a response that broke its contract, no matter if it was refused or only reported.
    package func violated(_ kind: ViolationKind) {
        self.violations[kind.index].wrappingAdd(1, ordering: .relaxed)
    }

    /// Counts a handshake that presented no pinned key. The exchanges that waited for it count their own violations.
    package func pinFailed() {
        self.pinFailures.wrappingAdd(1, ordering: .relaxed)
    }

    /// Counts a client that refused the certificate that the proxy presented in an intercepted tunnel.
    package func certificateRefused() {
        self.refusedCertificates.wrappingAdd(1, ordering: .relaxed)
    }

    /// Counts a request that was answered from the cache.
    package func hitCache() { self.cacheHits.wrappingAdd(1, ordering: .relaxed) }

    /// Counts a request of a route with a cache that was sent to an origin.
    package func missedCache() { self.cacheMisses.wrappingAdd(1, ordering: .relaxed) }

    /// Counts a request that was answered with the response to an equal request.
    package func coalesced() { self.coalescings.wrappingAdd(1, ordering: .relaxed) }

    /// Counts an answer that did not come from an origin, or that a fault changed.
    package func simulated(_ kind: Simulation) {
        switch kind {
        case .recording: self.recordings.wrappingAdd(1, ordering: .relaxed)
        case .mock: self.mocks.wrappingAdd(1, ordering: .relaxed)
        case .fault: self.faults.wrappingAdd(1, ordering: .relaxed)
        }
    }

    /// Counts a recording that was to be made, and could not be written.
    package func lostRecording() { self.lostRecordings.wrappingAdd(1, ordering: .relaxed) }

    /// Counts a tunnel that was established.
    package func tunnelOpened() {
        self.tunnelOpenings.wrappingAdd(1, ordering: .relaxed)
    }

    /// Counts the end of an established tunnel.
    package func tunnelClosed() {
        self.tunnelClosings.wrappingAdd(1, ordering: .releasing)
    }

    /// Reads every counter. Counters of running exchanges may change meanwhile.
    func read() -> Counts {
        var counts = Counts()
        // Ends are read before starts: see `finished`.
        counts.completed = self.completions.load(ordering: .acquiring)
        counts.failed = self.failures.load(ordering: .acquiring)
        counts.cancelled = self.cancellations.load(ordering: .acquiring)
        let closed = self.tunnelClosings.load(ordering: .acquiring)
        counts.started = self.starts.load(ordering: .relaxed)
        counts.tunnelsOpened = self.tunnelOpenings.load(ordering: .relaxed)
        counts.active = max(0, counts.started - counts.completed - counts.failed - counts.cancelled)
        counts.tunnelsActive = max(0, counts.tunnelsOpened - closed)
        counts.bytesUp = self.bytesUp.load(ordering: .relaxed)
        counts.bytesDown = self.bytesDown.load(ordering: .relaxed)
        counts.pinFailures = self.pinFailures.load(ordering: .relaxed)
        counts.certificatesRefused = self.refusedCertificates.load(ordering: .relaxed)
        counts.cacheHits = self.cacheHits.load(ordering: .relaxed)
        counts.cacheMisses = self.cacheMisses.load(ordering: .relaxed)
        counts.coalesced = self.coalescings.load(ordering: .relaxed)
        counts.recordings = self.recordings.load(ordering: .relaxed)
        counts.mocks = self.mocks.load(ordering: .relaxed)
        counts.faults = self.faults.load(ordering: .relaxed)
        counts.recordingsLost = self.lostRecordings.load(ordering: .relaxed)
        for kind in ViolationKind.allCases {
            counts.violations[kind] = self.violations[kind.index].load(ordering: .relaxed)
        }
        return counts
    }
}
