// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Shows the progress of an audit in one line on a terminal; shows nothing elsewhere.
final class AuditProgress: @unchecked Sendable {
    // Why @unchecked holds: the variables are only accessed under the lock.
    private let terminal: Terminal
    private let lock = NSLock()
    private var drawn = 0
    private var shown = 0

    init(terminal: Terminal) { self.terminal = terminal }

    /// Shows the progress. Called from several threads; a call that a later one has overtaken is ignored.
    func show(done: Int, of total: Int) {
        guard self.terminal.showsBars else { return }
        self.lock.withLock {
            guard self.drawn == 0 || done > self.shown else { return }
            self.shown = done
            self.draw(["audit: \(done) of \(total) addresses"])
        }
    }

    /// Removes the line.
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
