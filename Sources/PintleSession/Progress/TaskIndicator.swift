// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Tells whether one task, or operation, runs, and so when a refresh begins and ends: AFNetworking's activity
/// indicator view and refresh control. ``ActivityIndicator`` does this for all tasks of a session together.
///
///     let refresh = TaskIndicator()
///     refresh.bind(to: task)
///     for await isActive in refresh.activityStream { statusLine.show(isActive ? "loading" : "") }
public final class TaskIndicator: Sendable {
    private struct State: Sendable {
        var isActive = false
        /// Counts bindings, so that an earlier one is known when it still has something to say.
        var binding = 0
        var following: Task<Void, Never>?
    }

    private let state = Locked(State())
    private let changes = EventBroadcast<Bool>(.bufferingNewest(1))

    /// Makes an indicator that is bound to nothing, and not active.
    public init() {}

    deinit {
        self.changes.finish()
        self.state.withLock { $0.following }?.cancel()
    }

    /// True while the task runs: not while it is suspended, and not when it has ended or is about to.
    public var isActive: Bool { self.state.withLock { $0.isActive } }

    /// True or false for ``isActive`` as it is now, then whenever that has changed. A reader that is slow misses
    /// changes, never the last one.
    public var activityStream: AsyncStream<Bool> {
        self.state.withLock { self.changes.subscribe(beginningWith: $0.isActive) }
    }

    /// Follows a task from now on in place of any other, until the task has ended. The task does not keep the
    /// indicator.
    ///
    /// - Parameter task: shown as it is at once, whatever its state; nil for none, which leaves ``isActive`` as it
    ///   is.
    public func bind(to task: SessionTask?) {
        self.bind(task.map { ($0.state == .running, $0.stateStream) }) { $0 == .running }
    }

    /// Follows an operation as a task is followed, over all pauses, until it has finished.
    public func bind(to operation: TransferOperation) {
        self.bind((operation.state == .executing, operation.stateStream)) { $0 == .executing }
    }

    private func bind<Step: Sendable>(
        _ source: (isActive: Bool, steps: AsyncStream<Step>)?, isActive: @escaping @Sendable (Step) -> Bool
    ) {
        let earlier = self.state.withLock { state in
            state.binding += 1
            let (earlier, binding) = (state.following, state.binding)
            state.following = source.map { source in
                Task { [weak self] in
                    for await step in source.steps {
                        guard let self, self.follow(isActive(step), binding) else { return }
                    }
                }
            }
            if let source { self.show(source.isActive, &state) }
            return earlier
        }
        earlier?.cancel()
    }

    /// - Returns: false where another task is followed by now.
    private func follow(_ isActive: Bool, _ binding: Int) -> Bool {
        self.state.withLock { state in
            guard state.binding == binding else { return false }
            self.show(isActive, &state)
            return true
        }
    }

    /// Told while the state is held, so that changes come in their order.
    private func show(_ isActive: Bool, _ state: inout State) {
        guard state.isActive != isActive else { return }
        state.isActive = isActive
        self.changes.post(isActive)
    }
}
