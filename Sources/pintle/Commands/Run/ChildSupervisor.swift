// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// The signals that come to this process while a child runs, in their order.
///
/// Handlers write into a pipe: they run on whichever thread has not blocked the signal, and may do little else.
struct SignalPipe {
    fileprivate let descriptor: Int32

    /// Catches signals from now on, for the life of the process.
    init(_ signals: [Int32]) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .last }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        self.descriptor = ends[0]
        pintle_catch_signals(signals.reduce(0) { $0 | 1 << UInt64($1 - 1) }, ends[1])
    }

    /// Waits until there are signals, or until `deadline`, and takes them.
    func wait(until deadline: ContinuousClock.Instant?) -> [pintle_signal] {
        var place = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        let left = deadline.map { ContinuousClock.now.duration(to: $0).roundedMilliseconds + 1 }
        return poll(&place, 1, left.map { Int32(clamping: $0) } ?? -1) > 0 ? self.take() : []
    }

    /// Takes the signals that there are.
    func take() -> [pintle_signal] {
        var signals = [pintle_signal](repeating: pintle_signal(), count: 64)
        // Each is written in one piece, so none is read in two.
        let count = signals.withUnsafeMutableBytes { Glibc.read(self.descriptor, $0.baseAddress, $0.count) }
        return Array(signals.prefix(max(0, count) / MemoryLayout<pintle_signal>.size))
    }
}

/// Looks after a child until it has ended: passes signals on, stops and goes on with it, and kills it where it does not heed
/// a SIGTERM.
struct ChildSupervisor {
    let child: pid_t
    let signals: SignalPipe
    /// Whose foreground the child has, with a process group of its own; nil where it is in this process's.
    let terminal: ForegroundTerminal?
    /// The time that a child may take to end after a SIGTERM was passed on.
    let patience: Duration

    /// True once this process was interrupted as well, by a key or by somebody else.
    private(set) var wasInterrupted = false
    private var killing: ContinuousClock.Instant?
    /// True from when this process was continued until the child is.
    private var hasToResume = false
    private let adoptsOrphans = pintle_adopts_orphans() != 0

    init(_ child: pid_t, signals: SignalPipe, terminal: ForegroundTerminal?, patience: Duration) {
        (self.child, self.signals, self.terminal, self.patience) = (child, signals, terminal, patience)
    }

    private var relay: SignalRelay { SignalRelay(sharesGroup: self.terminal == nil) }

    /// Blocks the thread until the child has ended.
    mutating func wait() -> ChildEnd {
        while true {
            if self.adoptsOrphans { Orphans.reap() }
            if let end = self.look() {
                self.awaitInterrupt(behind: end)
                return end
            }
            if self.hasToResume { self.resume() }
            for signal in self.signals.wait(until: self.killing) { self.receive(signal, isSent: signal.is_sent != 0) }
            if let killing, killing <= .now {
                kill(self.child, SIGKILL)
                self.killing = nil
            }
        }
    }

    /// Passes on signals that came before the child was let go. A key reached it by itself if it was there already, and has
    /// ended it then, or done nothing.
    mutating func passOn(_ early: [pintle_signal]) {
        for signal in early { self.receive(signal, isSent: true) }
    }

    private mutating func receive(_ signal: pintle_signal, isSent: Bool) {
        if signal.number == SIGINT { self.wasInterrupted = true }
        self.perform(self.relay.receive(signal.number, isSent: isSent))
    }

    /// Takes note of an interrupt that is still on its way. A key signals the whole group before any of it can end, but the
    /// child's end may be seen before this process's handler has run, on whichever thread that is.
    private mutating func awaitInterrupt(behind end: ChildEnd) {
        guard self.terminal == nil, end == .killed(signal: SIGINT) else { return }
        let deadline = ContinuousClock.now + .seconds(1)
        while !self.wasInterrupted, .now < deadline {
            self.wasInterrupted = self.signals.wait(until: deadline).contains { $0.number == SIGINT }
        }
    }

    private mutating func perform(_ action: SignalRelay.Action) {
        switch action {
        // Every turn looks.
        case .none, .lookAtChild: break
        // The child is looked at first: it may have stopped after the SIGCONT, which must not undo that.
        case .resume: self.hasToResume = true
        case .forward(let signal): kill(self.child, signal)
        case .forwardAndWait(let signal):
            kill(self.child, signal)
            if self.killing == nil { self.killing = .now + self.patience }
        }
    }

    /// Takes note of what has become of the child.
    ///
    /// - Returns: how it ended; nil where it goes on.
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
            // In a group of both a shell continues the child too.
            case .continued: if self.terminal == nil { self.hasToResume = false }
            }
        }
    }

    private mutating func stop(with signal: Int32) {
        guard let own = self.relay.stop(with: signal) else { return }
        // A job that runs in the background gets no signal when a shell puts it into the foreground. That the child wants the
        // terminal tells of it.
        let isInForeground = [SIGTTIN, SIGTTOU].contains(signal) && self.terminal?.isToBeLent == true
        if !isInForeground {
            self.terminal?.takeBack(from: self.child)
            // Returns when a shell has continued this process, and at once if no shell could.
            pintle_obey(own)
        }
        self.hasToResume = true
    }

    /// Lets the child go on, in the foreground if a shell has put this process there.
    private mutating func resume() {
        self.hasToResume = false
        self.terminal?.lend(to: self.child)
        kill(self.terminal == nil ? self.child : -self.child, SIGCONT)
    }
}
