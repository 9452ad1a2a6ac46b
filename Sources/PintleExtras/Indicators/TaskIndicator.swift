// SPDX-License-Identifier: Apache-2.0

public import PintleSession
internal import PintleSystem

/// Tells if one task or operation runs, and so when a refresh begins and ends: AFNetworking's activity indicator view
/// and refresh control. ``ActivityIndicator`` does this for all tasks of a session together.
///
///     let refresh = TaskIndicator()
///     refresh.bind(to: task)
///     for await isActive in refresh.activityStream { statusLine.show(isActive ? "loading" : "") }
public final class TaskIndicator: Sendable {
    private struct State: Sendable {
        var isActive = false
        /// The number of the current binding, by which steps of an earlier one are recognised.
        var binding = 0
        var following: Task<Void, Never>?
    }

    private let state = Locked(State())
    private let changes = EventBroadcast<Bool>(.bufferingNewest(1))

    /// Makes an inactive indicator without a task.
    public init() {}

    deinit {
        self.changes.finish()
        self.state.withLock { $0.following }?.cancel()
    }

    /// True while the task runs: not while it is suspended, and not when it has ended or is about to.
    public var isActive: Bool { self.state.withLock { $0.isActive } }

    /// The current value of ``isActive``, then each change. A slow reader misses changes, but never the last one.
    public var activityStream: AsyncStream<Bool> {
        self.state.withLock { self.changes.subscribe(beginningWith: $0.isActive) }
    }

    /// Follows a task from now on instead of any other, until the task has ended. The task does not keep the indicator
    /// alive.
    ///
    /// - Parameter task: its state is shown at once; nil for none, which leaves ``isActive`` unchanged.
    public func bind(to task: SessionTask?) {
        self.bind(task.map { ($0.state == .running, $0.stateStream) }) { $0 == .running }
    }

    /// Follows an operation like a task, over all pauses, until it has finished.
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
                        // The indicator was released, or follows another task now.
                        guard let self, self.follow(isActive(step), binding) else { return }
                    }
                }
            }
            if let source { self.show(source.isActive, &state) }
            return earlier
        }
        earlier?.cancel()
    }

    /// Shows a step of a binding.
    ///
    /// - Returns: false if another task is followed now.
    private func follow(_ isActive: Bool, _ binding: Int) -> Bool {
        self.state.withLock { state in
            guard state.binding == binding else { return false }
            self.show(isActive, &state)
            return true
        }
    }

    /// Posts the change under the lock, so that readers see changes in their order.
    private func show(_ isActive: Bool, _ state: inout State) {
        // Readers are told of changes only.
        guard state.isActive != isActive else { return }
        state.isActive = isActive
        self.changes.post(isActive)
    }
}
