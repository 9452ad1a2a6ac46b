// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Decides about each signal that comes to Pintle while a child runs.
///
/// Keys at the terminal signal a whole process group. Where the child is in Pintle's, it has had such a signal by itself, and
/// a second one would be one too many: many programs give up at once then.
struct SignalRelay: Equatable {
    enum Action: Equatable {
        case none
        /// Pass it on.
        case forward(Int32)
        /// Pass it on, and kill the child unless it has ended within the patience.
        case forwardAndWait(Int32)
        /// Let the child go on: whoever continues Pintle means it.
        case resume
        /// See what has become of the child.
        case lookAtChild
    }

    /// True where the child has no process group of its own.
    let sharesGroup: Bool

    /// Those that are passed on. The rest does what it would do to any program.
    static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP]
    static let caught = Self.forwarded + [SIGCONT, SIGCHLD]

    /// - Parameter isSent: whether a process sent it; keys and the end of a child come of the kernel.
    func receive(_ signal: Int32, isSent: Bool) -> Action {
        switch signal {
        case SIGCHLD: return .lookAtChild
        case SIGCONT: return .resume
        case _ where self.sharesGroup && !isSent: return .none
        case SIGTERM: return .forwardAndWait(signal)
        default: return .forward(signal)
        }
    }

    /// The signal that Pintle stops itself by when its child was stopped; nil where it goes on.
    ///
    /// A shell that waits for Pintle sees the job stopped as it would be without it.
    func stop(with signal: Int32) -> Int32? {
        switch signal {
        case SIGTSTP, SIGTTIN, SIGTTOU: signal
        // In the group of its own nobody but Pintle could give the terminal back. In Pintle's, somebody wants to look at that
        // one process, a debugger for example.
        default: self.sharesGroup ? nil : SIGSTOP
        }
    }
}
