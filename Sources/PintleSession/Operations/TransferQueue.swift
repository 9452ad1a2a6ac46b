// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleSystem

/// Starts operations as there is room for them.
///
/// An operation is in the queue from its addition until it has finished, and the queue lives as long as its operations.
/// One whose dependencies have not finished lets others go before it. A paused one keeps its place among those that
/// were started.
public final class TransferQueue: Sendable {
    /// Which of the operations that wait is started next.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// The one that was added first.
        case firstInFirstOut
        /// The one that was added last.
        case lastInFirstOut
    }

    private struct State: Sendable {
        var waiting: [TransferOperation] = []
        var started: [ObjectIdentifier: TransferOperation] = [:]
        var isSuspended = false
        var emptied: OneTimeEvent?

        var isEmpty: Bool { self.waiting.isEmpty && self.started.isEmpty }
    }

    /// The most operations that are started and not finished; nil for any number.
    public let limit: Int?
    /// Which one is next.
    public let order: Order
    private let state = NIOLockedValueBox(State())

    /// Makes an empty queue.
    ///
    /// - Parameter limit: the most operations that are started and not finished, at least 1; nil for any number.
    public init(limit: Int? = nil, order: Order = .firstInFirstOut) {
        precondition(limit.map { $0 > 0 } ?? true, "a queue with the limit \(limit ?? 0) would never start anything")
        self.limit = limit
        self.order = order
    }

    /// The operations that have not finished: those that were started, then those that wait in the order of addition.
    public var operations: [TransferOperation] {
        self.state.withLockedValue { Array($0.started.values) + $0.waiting }
    }

    /// Whether nothing more is started.
    public var isSuspended: Bool { self.state.withLockedValue { $0.isSuspended } }

    /// Adds an operation, which is started as soon as may be. One that has finished already is passed over.
    ///
    /// It is an error of the program to add an operation that was started, or that is in a queue.
    public func add(_ operation: TransferOperation) {
        guard !operation.finished.hasHappened else { return }
        operation.wait(inQueue: { self.startNext() })
        self.state.withLockedValue { $0.waiting.append(operation) }
        operation.finished.then { self.remove(operation) }
        self.startNext()
    }

    /// Starts nothing more until ``resume()``. What was started goes on.
    public func suspend() { self.state.withLockedValue { $0.isSuspended = true } }

    /// Starts operations again.
    public func resume() {
        self.state.withLockedValue { $0.isSuspended = false }
        self.startNext()
    }

    /// Cancels every operation.
    public func cancelAll() {
        let (waiting, started) = self.state.withLockedValue { ($0.waiting, Array($0.started.values)) }
        // Those that wait first: nobody is to take the place of one that was started.
        for operation in waiting + started { operation.cancel() }
    }

    /// Waits until every operation has finished, those included that are added meanwhile.
    public func waitUntilEmpty() async {
        let emptied = self.state.withLockedValue { state -> OneTimeEvent? in
            guard !state.isEmpty else { return nil }
            let emptied = state.emptied ?? OneTimeEvent()
            state.emptied = emptied
            return emptied
        }
        await emptied?.wait()
    }

    /// Adds operations and waits until all of them have finished and their completions have returned. Cancelling the
    /// Swift task that waits cancels them.
    ///
    /// - Parameter progress: told after each of them, failed or not, how many it makes and how many there are.
    public func batch(
        _ operations: [TransferOperation], progress: (_ finished: Int, _ total: Int) -> Void = { _, _ in }
    ) async {
        for operation in operations { self.add(operation) }
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                for operation in operations { group.addTask { await operation.settled.wait() } }
                var finished = 0
                for await _ in group {
                    finished += 1
                    progress(finished, operations.count)
                }
            }
        } onCancel: {
            for operation in operations { operation.cancel() }
        }
    }

    private func startNext() {
        let admitted = self.state.withLockedValue { state -> [TransferOperation] in
            var admitted: [TransferOperation] = []
            while !state.isSuspended, state.started.count < self.limit ?? .max,
                let next = self.nextIndex(in: state.waiting)
            {
                let operation = state.waiting.remove(at: next)
                state.started[ObjectIdentifier(operation)] = operation
                admitted.append(operation)
            }
            return admitted
        }
        for operation in admitted { operation.admit() }
    }

    private func nextIndex(in waiting: [TransferOperation]) -> Int? {
        switch self.order {
        case .firstInFirstOut: waiting.firstIndex(where: \.isReady)
        case .lastInFirstOut: waiting.lastIndex(where: \.isReady)
        }
    }

    private func remove(_ operation: TransferOperation) {
        let emptied = self.state.withLockedValue { state -> OneTimeEvent? in
            if state.started.removeValue(forKey: ObjectIdentifier(operation)) == nil {
                state.waiting.removeAll { $0 === operation }
            }
            guard state.isEmpty else { return nil }
            defer { state.emptied = nil }
            return state.emptied
        }
        emptied?.happen()
        self.startNext()
    }
}

extension TransferOperation {
    /// - Parameter ask: called when it has become possible to start the operation.
    fileprivate func wait(inQueue ask: @escaping @Sendable () -> Void) {
        self.status.withLockedValue { status in
            guard case .alone = status.place, status.work == nil || status.isCancelled else {
                preconditionFailure("an operation is added to one queue only, and before it is started")
            }
            if !status.isCancelled { status.place = .waiting(ask: ask) }
        }
    }

    fileprivate func admit() {
        self.status.withLockedValue { status in
            status.place = .admitted
            self.startIfReady(&status)
        }
    }
}
