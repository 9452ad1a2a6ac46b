// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Starts operations, up to a limit at a time.
///
/// An operation is in the queue from its addition until it has finished; the queue lives as long as its operations. An
/// operation with unfinished dependencies lets others start before it. A paused one keeps its place among the started
/// ones.
public final class TransferQueue: Sendable {
    /// The order in which waiting operations are started.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// The operation that was added first is next.
        case firstInFirstOut
        /// The operation that was added last is next.
        case lastInFirstOut
    }

    private struct State: Sendable {
        var waiting: [TransferOperation] = []
        var started: [ObjectIdentifier: TransferOperation] = [:]
        var isSuspended = false
        var emptied: Latch?

        var isEmpty: Bool { self.waiting.isEmpty && self.started.isEmpty }
    }

    /// The highest number of operations that are started and not finished; nil for no limit.
    public let limit: Int?
    /// The order in which waiting operations are started.
    public let order: Order
    private let state = Locked(State())

    /// Makes an empty queue.
    ///
    /// - Parameter limit: the highest number of operations that are started and not finished, at least 1; nil for no
    ///   limit.
    public init(limit: Int? = nil, order: Order = .firstInFirstOut) {
        precondition(limit.map { $0 > 0 } ?? true, "a queue with the limit \(limit ?? 0) would never start anything")
        self.limit = limit
        self.order = order
    }

    /// The operations that have not finished: first the started ones, then the waiting ones in the order of addition.
    public var operations: [TransferOperation] {
        self.state.withLock { Array($0.started.values) + $0.waiting }
    }

    /// True if no further operation is started.
    public var isSuspended: Bool { self.state.withLock { $0.isSuspended } }

    /// Adds an operation, which is started as soon as possible. Does nothing if it has finished already.
    ///
    /// Adding an operation that was started, or that is in a queue, is an error of the program.
    public func add(_ operation: TransferOperation) {
        guard !operation.finished.hasHappened else { return }
        operation.wait(inQueue: { self.startNext() })
        self.state.withLock { $0.waiting.append(operation) }
        operation.finished.then { self.remove(operation) }
        self.startNext()
    }

    /// Starts no further operation until ``resume()``. Started operations continue.
    public func suspend() { self.state.withLock { $0.isSuspended = true } }

    /// Starts operations again.
    public func resume() {
        self.state.withLock { $0.isSuspended = false }
        self.startNext()
    }

    /// Cancels every operation.
    public func cancelAll() {
        let (waiting, started) = self.state.withLock { ($0.waiting, Array($0.started.values)) }
        // The waiting ones first, so that none of them replaces a started one.
        for operation in waiting + started { operation.cancel() }
    }

    /// Waits until every operation has finished, including those that are added meanwhile.
    public func waitUntilEmpty() async {
        let emptied = self.state.withLock { state -> Latch? in
            guard !state.isEmpty else { return nil }
            let emptied = state.emptied ?? Latch()
            state.emptied = emptied
            return emptied
        }
        await emptied?.wait()
    }

    /// Adds operations and waits until all of them have finished and their completions have returned. Cancelling the
    /// Swift task that waits cancels them.
    ///
    /// - Parameter progress: called after each operation, failed or not, with the number of finished ones and of all.
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
        let admitted = self.state.withLock { state -> [TransferOperation] in
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
        let emptied = self.state.withLock { state -> Latch? in
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
    /// Puts the operation into a queue.
    ///
    /// - Parameter ask: called when it has become possible to start the operation.
    fileprivate func wait(inQueue ask: @escaping @Sendable () -> Void) {
        self.status.withLock { status in
            guard case .alone = status.place, status.work == nil || status.isCancelled else {
                preconditionFailure("an operation is added to one queue only, and before it is started")
            }
            if !status.isCancelled { status.place = .waiting(ask: ask) }
        }
    }

    fileprivate func admit() {
        self.status.withLock { status in
            status.place = .admitted
            self.startIfReady(&status)
        }
    }
}
