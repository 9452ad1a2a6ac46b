// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// Supervises a child until it has ended: passes signals on, stops and continues together with it, and kills it if it does
/// not end after a SIGTERM.
struct ChildSupervisor {
    let child: pid_t
    let signals: SignalPipe
    /// The terminal whose foreground the child has, with a process group of its own; nil if the child is in this process's
    /// group.
    let terminal: ForegroundTerminal?
    /// The time that the child has to end after a SIGTERM was passed on.
    let patience: Duration
    /// Shows questions at that terminal; nil if there are none.
    let questions: TerminalQuestions?

    /// True once this process has received a SIGINT too, from a key or another process.
    private(set) var wasInterrupted = false
    private var killing: ContinuousClock.Instant?
    /// True from the moment when this process is continued until the child is.
    private var hasToResume = false
    private let adoptsOrphans = pintle_adopts_orphans() != 0

    init(
        _ child: pid_t, signals: SignalPipe, terminal: ForegroundTerminal?, patience: Duration,
        _ questions: TerminalQuestions?
    ) {
        (self.child, self.signals, self.terminal, self.patience) = (child, signals, terminal, patience)
        self.questions = questions
    }

    private var relay: SignalRelay { SignalRelay(sharesGroup: self.terminal == nil) }

    /// Blocks the thread until the child has ended.
    mutating func wait() -> ChildEnd {
        while true {
            if self.adoptsOrphans { Orphans.reap() }
            if let end = self.look() {
                self.questions?.leave(self.child)
                self.awaitInterrupt(behind: end)
                return end
            }
            if self.hasToResume { self.resume() }
            self.questions?.look(self.child)
            let deadline = [self.killing, self.questions?.deadline].compactMap(\.self).min()
            for signal in self.signals.wait(until: deadline) { self.receive(signal, isSent: signal.is_sent != 0) }
            if let killing, killing <= .now {
                kill(self.child, SIGKILL)
                self.killing = nil
            }
        }
    }

    /// Passes on signals that arrived before the child was started. A signal from a key has reached the child directly if
    /// the child existed by then, and has either ended it or had no effect.
    mutating func passOn(_ early: [pintle_signal]) {
        for signal in early { self.receive(signal, isSent: true) }
    }

    private mutating func receive(_ signal: pintle_signal, isSent: Bool) {
        if signal.number == SIGINT { self.wasInterrupted = true }
        if !isSent, self.questions?.takes(signal.number, self.child) == true { return }
        self.perform(self.relay.receive(signal.number, isSent: isSent))
    }

    /// Waits for an interrupt that has not arrived yet. A key signals the whole group before any of its processes can end,
    /// but this process may see the child's end before its own handler has run on some thread.
    private mutating func awaitInterrupt(behind end: ChildEnd) {
        guard self.terminal == nil, end == .killed(signal: SIGINT) else { return }
        let deadline = ContinuousClock.now + .seconds(1)
        while !self.wasInterrupted, .now < deadline {
            self.wasInterrupted = self.signals.wait(until: deadline).contains { $0.number == SIGINT }
        }
    }

    private mutating func perform(_ action: SignalRelay.Action) {
        switch action {
        // The child is checked in every turn of the loop.
        case .none, .lookAtChild: break
        // The child is checked first: it may have stopped after the SIGCONT, which must not undo that.
        case .resume: self.hasToResume = true
        case .forward(let signal): kill(self.child, signal)
        case .forwardAndWait(let signal):
            kill(self.child, signal)
            if self.killing == nil { self.killing = .now + self.patience }
        }
    }

    /// Handles the changes of the child's state.
    ///
    /// - Returns: its end; nil while it runs.
    private mutating func look() -> ChildEnd? {
        while true {
            var status: Int32 = 0
            let found = waitpid(self.child, &status, WNOHANG | WUNTRACED | WCONTINUED)
            if found < 0, errno == EINTR { continue }
            guard found == self.child else { return nil }
            switch ChildEnd.change(of: status) {
            case .ended(let end):
                self.terminal?.takeBack(from: self.child)
                return end
            case .stopped(let signal): self.stop(with: signal)
            // If the child is in the same group, a shell continues it too.
            case .continued: if self.terminal == nil { self.hasToResume = false }
            }
        }
    }

    private mutating func stop(with signal: Int32) {
        if self.questions?.stopped(by: signal, self.child) == true { return }
        self.questions?.leave(self.child)
        guard let own = self.relay.stop(with: signal) else { return }
        // A background job receives no signal if a shell puts it into the foreground. The child's attempt to use the
        // terminal shows that this has happened.
        let isInForeground = [SIGTTIN, SIGTTOU].contains(signal) && self.terminal?.isToBeLent == true
        if !isInForeground {
            self.terminal?.takeBack(from: self.child)
            // Returns when a shell has continued this process, or at once if there is no such shell.
            pintle_raise_default(own)
        }
        self.hasToResume = true
    }

    /// Continues the child, in the foreground if a shell has put this process there.
    private mutating func resume() {
        self.hasToResume = false
        self.terminal?.lend(to: self.child)
        kill(self.terminal == nil ? self.child : -self.child, SIGCONT)
    }
}
