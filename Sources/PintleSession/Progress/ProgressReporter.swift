// SPDX-License-Identifier: Apache-2.0

/// Shows the progress of a task: as a bar, a line of text, or a number in a table.
///
/// It gets one call after another, on its own actor if it has one. Steps that happen during a call are left out, except
/// the last one.
public protocol ProgressReporter: AnyObject, Sendable {
    /// Shows a step: the task's progress at the time of binding, then each change. A fraction is nil while the length
    /// is unknown; the two directions are independent.
    func report(_ progress: TaskProgress) async
    /// Shows that the task has ended; it succeeded if `error` is nil. This is the last call.
    func finish(_ error: SessionError?) async
}

extension ProgressReporter {
    /// Does nothing.
    public func finish(_ error: SessionError?) async {}
}

/// Connects a task, or an operation of `PintleExtras`, to the reporter of its progress.
///
/// It ends with the task, when the reporter is released, and by ``end()``; releasing the binding ends nothing. The
/// binding does not keep the reporter alive.
public final class ProgressBinding: Sendable {
    private let telling: Task<Void, Never>

    package init(
        _ steps: AsyncStream<TaskProgress>, to reporter: some ProgressReporter,
        error: @escaping @Sendable () -> SessionError?
    ) {
        self.telling = Task { [weak reporter] in
            for await step in steps {
                // The caller follows no more, or has released its reporter.
                guard !Task.isCancelled, let reporter else { return }
                await reporter.report(step)
            }
            // The end is a step like the others.
            guard !Task.isCancelled, let reporter else { return }
            await reporter.finish(error())
        }
    }

    /// Ends the binding: the reporter gets no further call after the present one.
    public func end() { self.telling.cancel() }

    /// Waits until the reporter gets no further call.
    public func wait() async { await self.telling.value }
}

extension SessionTask {
    /// Reports the task's progress until it has ended. For a task that has ended already, the end is reported.
    @discardableResult
    public func bindProgress(to reporter: some ProgressReporter) -> ProgressBinding {
        ProgressBinding(self.progressStream, to: reporter) { self.error }
    }
}
