// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// One line on a terminal that says how far an audit is; nothing where nobody looks.
final class AuditProgress: @unchecked Sendable {
    // Why @unchecked holds: the variables are touched under the lock only.
    private let terminal: Terminal
    private let lock = NSLock()
    private var drawn = 0
    private var shown = 0

    init(terminal: Terminal) { self.terminal = terminal }

    /// Called from several threads; a call that was overtaken by a later one is passed over.
    func show(done: Int, of total: Int) {
        guard self.terminal.showsBars else { return }
        self.lock.withLock {
            guard self.drawn == 0 || done > self.shown else { return }
            self.shown = done
            self.draw(["audit: \(done) of \(total) addresses"])
        }
    }

    /// Takes the line away.
    func end() {
        self.lock.withLock { self.draw([]) }
    }

    private func draw(_ lines: [String]) {
        let width = self.terminal.width - 1
        let frame = ProgressFrame.text(
            over: self.drawn, finished: [], running: lines.map { String($0.prefix(width)) })
        if !frame.isEmpty { Output.status(frame) }
        self.drawn = lines.count
    }
}
