// SPDX-License-Identifier: Apache-2.0

/// An event of a session or of its tasks, as delivered by ``Session/eventStream()``.
public enum SessionEvent: Sendable {
    /// ``SessionTask/resume()`` started a task that was suspended.
    case taskResumed(SessionTask)
    /// ``SessionTask/suspend()`` stopped a task that was running.
    case taskSuspended(SessionTask)
    /// A task is over. Its state, response, metrics and error can be read from the task; callers that waited for it
    /// have been notified.
    case taskCompleted(SessionTask)
    /// A download was moved to its destination.
    case downloadMoved(SessionTask, to: String)
    /// A download is complete, but could not be moved; it is still in the temporary file.
    case downloadMoveFailed(SessionTask, from: String, to: String, SessionError)
    /// An operation was started, or continues after a pause.
    case operationStarted(any SessionOperation)
    /// An operation is no longer running: it was paused, or it has finished. Its state tells which.
    case operationStopped(any SessionOperation)
    /// The session takes no more tasks and the last one has ended. The stream ends with this.
    case sessionInvalidated
}

/// Work that makes tasks of a session, one after another, and tells the session's readers when it runs:
/// `TransferOperation` of `PintleExtras` is such an operation.
public protocol SessionOperation: AnyObject, Sendable {
    /// The request as it was passed in.
    var request: SessionRequest { get }
}
