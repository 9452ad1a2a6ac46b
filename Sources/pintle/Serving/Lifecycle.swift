// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleSystem

/// The life of a proxy in this process: its parts start one after another, and stop in reverse.
///
/// ```
///  assembling ──► starting ──► serving ──► draining ──► stopped
///      │              │           │           ▲
///      └──────────────┴───────────┴─► stopRequested
/// ```
///
/// A start that fails, one that a signal interrupts, and a proxy that has served end in one way: ``stop(within:)`` stops
/// the parts that have started.
final class Lifecycle: Sendable {
    enum State: Sendable, Equatable {
        /// Nothing has started.
        case assembling
        /// Some parts have started.
        case starting
        /// All parts have started.
        case serving
        /// The proxy was asked to stop: no further part starts.
        case stopRequested
        /// No client is accepted. Exchanges end, and then the parts stop.
        case draining
        case stopped
    }

    /// The parts, in the order in which they start. Each may use those before it until it has stopped.
    enum Part: Int, Sendable, CaseIterable {
        /// Signals are caught first: readers of the announced address may send one at once, and the start can be interrupted.
        case signals
        case exchangeLog
        /// Answers the questions for names in a command's network. It needs no other part.
        case resolver
        /// Stops after the engine, so that the last exchanges have spans, too; therefore it has an engine of its own.
        case traces
        case engine
        case activity
        case reachability
        /// The connections to origins, of the configuration in use.
        case sessions
        case askWebhook
        case listeners
        /// Reloads and reports that signals ask for; those caught earlier wait for it.
        case signalRequests
        /// Reloads after a change, as file changes do.
        case listRefresh
        case fileWatch
        /// It precedes the control socket, because `pintle status` prints its link.
        case admin
        case controlSocket
        case diskCache
        case watchdog
    }

    private struct Started: Sendable {
        let part: Part
        let stop: @Sendable () async -> Void
        let drain: (@Sendable (Duration) async -> Bool)?
    }

    private struct Progress: Sendable {
        var state = State.assembling
        var started: [Started] = []
    }

    private let progress = Locked(Progress())
    private let requests: AsyncStream<Void>
    private let request: AsyncStream<Void>.Continuation
    private let logger: Logger

    /// - Parameter logger: is told at the level `trace` of each part that starts and stops.
    init(logger: Logger) {
        (self.requests, self.request) = AsyncStream.makeStream(of: Void.self)
        self.logger = logger
    }

    var state: State { self.progress.withLock { $0.state } }

    /// The parts that have started and not stopped, in the order of their start.
    var running: [Part] { self.progress.withLock { $0.started.map(\.part) } }

    // MARK: Start

    /// Records a part that has just started.
    ///
    /// - Parameters:
    ///   - stop: called once, after the parts that started later have stopped.
    ///   - drain: lets clients finish within the given time, while all parts still run. Returns true if they did.
    /// - Throws: a failure with the exit code of success if the proxy was asked to stop in the meantime.
    func started(
        _ part: Part, stop: @escaping @Sendable () async -> Void = {},
        drain: (@Sendable (Duration) async -> Bool)? = nil
    ) throws(CommandFailure) {
        let state = self.progress.withLock { progress in
            let last = progress.started.last?.part.rawValue ?? -1
            precondition(last < part.rawValue, "BUG: \(part) started out of order")
            switch progress.state {
            case .assembling: progress.state = .starting
            case .starting, .stopRequested: break
            case .serving, .draining, .stopped: preconditionFailure("BUG: \(part) started while \(progress.state)")
            }
            progress.started.append(Started(part: part, stop: stop, drain: drain))
            return progress.state
        }
        self.logger.trace("part started", metadata: ["part": "\(part)"])
        if state == .stopRequested { throw CommandFailure(.success, lines: []) }
    }

    /// Records that all parts have started.
    ///
    /// - Throws: as ``started(_:stop:drain:)``.
    func serve() throws(CommandFailure) {
        let state = self.progress.withLock { progress in
            if progress.state == .starting { progress.state = .serving }
            return progress.state
        }
        switch state {
        case .serving: break
        case .stopRequested: throw CommandFailure(.success, lines: [])
        case .assembling, .starting, .draining, .stopped: preconditionFailure("BUG: served while \(state)")
        }
    }

    // MARK: End

    /// Asks for the end, in any state.
    ///
    /// - Returns: false if that was asked before, or if the end has begun.
    func requestStop() -> Bool {
        let isFirst = self.progress.withLock { progress in
            switch progress.state {
            case .assembling, .starting, .serving:
                progress.state = .stopRequested
                return true
            case .stopRequested, .draining, .stopped: return false
            }
        }
        if isFirst { self.request.finish() }
        return isFirst
    }

    /// Waits until ``requestStop()`` is called.
    func waitForStopRequest() async {
        for await _ in self.requests {}
    }

    /// Lets clients finish, and then stops the parts in reverse. Called once, in any state before draining.
    ///
    /// - Parameter patience: the time after which the remaining exchanges and tunnels are cut off.
    /// - Returns: true if all of them ended by themselves.
    @discardableResult
    func stop(within patience: Duration) async -> Bool {
        let started = self.progress.withLock { progress in
            precondition(![.draining, .stopped].contains(progress.state), "BUG: stopped while \(progress.state)")
            progress.state = .draining
            return progress.started
        }
        var isClean = true
        for part in started.reversed() {
            guard let drain = part.drain else { continue }
            isClean = await drain(patience) && isClean
        }
        for part in started.reversed() {
            await part.stop()
            self.progress.withLock { _ = $0.started.removeLast() }
            self.logger.trace("part stopped", metadata: ["part": "\(part.part)"])
        }
        self.progress.withLock { $0.state = .stopped }
        return isClean
    }
}
