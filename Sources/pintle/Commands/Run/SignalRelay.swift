// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Decides about each signal that Pintle receives while a child runs.
///
/// Keys at the terminal signal a whole process group. A child in Pintle's group has already received such a signal, and
/// must not get a second one: many programs would then give up at once.
struct SignalRelay: Equatable {
    enum Action: Equatable {
        case none
        /// Pass the signal on.
        case forward(Int32)
        /// Pass the signal on, and kill the child if it does not end in time.
        case forwardAndWait(Int32)
        /// Continue the child, because Pintle was continued.
        case resume
        /// Check the state of the child.
        case lookAtChild
    }

    /// True if the child has no process group of its own.
    let sharesGroup: Bool

    /// The signals that are passed on. All others have their default effect on Pintle.
    static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP]
    static let caught = Self.forwarded + [SIGCONT, SIGCHLD]

    /// - Parameter isSent: true if a process sent the signal; signals of keys and of a child's end come from the kernel.
    func receive(_ signal: Int32, isSent: Bool) -> Action {
        switch signal {
        case SIGCHLD: return .lookAtChild
        case SIGCONT: return .resume
        case _ where self.sharesGroup && !isSent: return .none
        case SIGTERM: return .forwardAndWait(signal)
        default: return .forward(signal)
        }
    }

    /// Returns the signal with which Pintle stops itself after its child was stopped; nil if Pintle continues.
    ///
    /// A shell that waits for Pintle then sees a stopped job, as it would without Pintle.
    func stop(with signal: Int32) -> Int32? {
        switch signal {
        case SIGTSTP, SIGTTIN, SIGTTOU: signal
        // If the child has its own group, only Pintle can give the terminal back. If it shares Pintle's group, only this
        // one process was meant to be stopped, by a debugger for example.
        default: self.sharesGroup ? nil : SIGSTOP
        }
    }
}
