// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import pintle

/// Signals passed on, and the end of a child.
struct SignalRelayTests {
    private let shared = SignalRelay(sharesGroup: true)
    private let own = SignalRelay(sharesGroup: false)

    @Test(arguments: [SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP])
    func `what somebody sends is passed on, and what a key does reaches the child once`(signal: Int32) {
        #expect(self.shared.receive(signal, isSent: true) == .forward(signal))
        #expect(self.own.receive(signal, isSent: true) == .forward(signal))
        #expect(self.shared.receive(signal, isSent: false) == .none)
        #expect(self.own.receive(signal, isSent: false) == .forward(signal))
    }

    @Test func `SIGTERM has a limit, and SIGCONT goes on`() {
        #expect(self.shared.receive(SIGTERM, isSent: true) == .forwardAndWait(SIGTERM))
        #expect(self.own.receive(SIGTERM, isSent: true) == .forwardAndWait(SIGTERM))
        #expect(self.shared.receive(SIGCONT, isSent: true) == .resume)
        #expect(self.shared.receive(SIGCHLD, isSent: false) == .lookAtChild)
    }

    @Test func `Pintle stops with its child where a shell is to see that`() {
        for signal in [SIGTSTP, SIGTTIN, SIGTTOU] {
            #expect(self.shared.stop(with: signal) == signal && self.own.stop(with: signal) == signal)
        }
        #expect(self.shared.stop(with: SIGSTOP) == nil && self.own.stop(with: SIGSTOP) == SIGSTOP)
    }

    @Test(
        arguments: [
            (0, .ended(.exited(0))), (7 << 8, .ended(.exited(7))), (9, .ended(.killed(signal: 9))),
            (0x80 | 11, .ended(.killed(signal: 11))), (20 << 8 | 0x7F, .stopped(signal: 20)), (0xFFFF, .continued),
        ] as [(Int32, ChildEnd.Change)])
    func `a status says what the child did`(status: Int32, change: ChildEnd.Change) {
        #expect(ChildEnd.change(of: status) == change)
    }

    @Test(
        arguments: [
            (.exited(0), false, false, 0), (.exited(0), true, false, 1), (.exited(0), true, true, 125),
            (.exited(7), true, true, 7), (.killed(signal: 15), false, false, 143),
        ] as [(ChildEnd, Bool, Bool, Int32)])
    func `the child's own code comes first`(end: ChildEnd, findings: Bool, incomplete: Bool, code: Int32) {
        #expect(end.runCode(hasFindings: findings, isIncomplete: incomplete) == code)
    }
}
