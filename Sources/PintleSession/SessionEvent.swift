// SPDX-License-Identifier: Apache-2.0

/// What happens to a session and its tasks, as told by ``Session/eventStream()``.
public enum SessionEvent: Sendable {
    /// ``SessionTask/resume()`` set a task going that was suspended.
    case taskResumed(SessionTask)
    /// ``SessionTask/suspend()`` stopped a task that was running.
    case taskSuspended(SessionTask)
    /// A task is over. Its state, response, metrics and error are the task's; who waited for it has been told.
    case taskCompleted(SessionTask)
    /// A download was moved to where it belongs.
    case downloadMoved(SessionTask, to: String)
    /// A download is whole, but could not be moved; it is still in the temporary file.
    case downloadMoveFailed(SessionTask, from: String, to: String, SessionError)
    /// An operation was started, or goes on after a pause.
    case operationStarted(TransferOperation)
    /// An operation is no longer under way: it was paused, or it has finished. Its state says which.
    case operationStopped(TransferOperation)
    /// The session takes no more tasks and the last one has ended. The stream ends with this.
    case sessionInvalidated
}
