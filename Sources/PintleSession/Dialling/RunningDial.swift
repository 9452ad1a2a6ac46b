// SPDX-License-Identifier: Apache-2.0

/// A dial that can be cancelled.
protocol RunningDial: AnyObject {
    /// True while the dial observes its own time limit: it ends by itself, and its error says in which phase it was.
    var keepsTime: Bool { get }
    /// Cancels the dial; its completion is not called.
    func cancel()
}

/// Passes a connected, non-blocking socket to its new owner, or the error.
typealias DialCompletion = (Result<Int32, SessionError>, TransferMetrics) -> Void
