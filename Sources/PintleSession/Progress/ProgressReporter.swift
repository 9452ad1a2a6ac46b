// SPDX-License-Identifier: Apache-2.0

/// Shows how far a task has come: a bar, a line of text, a number in a table.
///
/// It is told one thing after another, on its own actor where it has one. While it takes its time steps are left out,
/// never the last one.
public protocol ProgressReporter: AnyObject, Sendable {
    /// Shows a step: the task's progress as it is at the binding, then whenever it has changed. A fraction of it is
    /// nil while the length is unknown; the two directions are independent.
    func report(_ progress: TaskProgress) async
    /// Shows that the task has ended, well where `error` is nil. Nothing comes after this.
    func finish(_ error: SessionError?) async
}

extension ProgressReporter {
    /// Does nothing.
    public func finish(_ error: SessionError?) async {}
}

/// A task, or an operation, and who shows its progress.
///
/// It ends with the task, when the reporter is gone, and by ``end()``; letting go of it ends nothing. Nothing keeps the
/// reporter for its sake.
public final class ProgressBinding: Sendable {
    private let telling: Task<Void, Never>

    init(
        _ steps: AsyncStream<TaskProgress>, to reporter: some ProgressReporter,
        error: @escaping @Sendable () -> SessionError?
    ) {
        self.telling = Task { [weak reporter] in
            for await step in steps {
                guard !Task.isCancelled, let reporter else { return }
                await reporter.report(step)
            }
            guard !Task.isCancelled, let reporter else { return }
            await reporter.finish(error())
        }
    }

    /// Tells the reporter nothing more, once what it is being told has returned.
    public func end() { self.telling.cancel() }

    /// Waits until the reporter is told nothing more.
    public func wait() async { await self.telling.value }
}

extension SessionTask {
    /// Lets a reporter show the task's progress until it has ended. A task that has ended already shows how.
    @discardableResult
    public func bindProgress(to reporter: some ProgressReporter) -> ProgressBinding {
        ProgressBinding(self.progressStream, to: reporter) { self.error }
    }
}

extension TransferOperation {
    /// Lets a reporter show the operation's progress until it has finished, over all pauses.
    @discardableResult
    public func bindProgress(to reporter: some ProgressReporter) -> ProgressBinding {
        ProgressBinding(self.progressStream, to: reporter) { self.error }
    }
}
