// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Shows the progress of an audit in one line on a terminal; shows nothing elsewhere.
final class AuditProgress: Sendable {
    private struct State {
        /// The number of lines on the terminal.
        var drawn = 0
        var shown = 0
    }

    private let terminal: Terminal
    private let state = Locked(State())

    init(terminal: Terminal) { self.terminal = terminal }

    /// Shows the progress. Called from several threads; a call that a later one has overtaken is ignored.
    func show(done: Int, of total: Int) {
        guard self.terminal.showsBars else { return }
        self.state.withLock { state in
            guard state.drawn == 0 || done > state.shown else { return }
            state.shown = done
            self.draw(["audit: \(done) of \(total) addresses"], &state)
        }
    }

    /// Removes the line.
    func end() {
        self.state.withLock { self.draw([], &$0) }
    }

    private func draw(_ lines: [String], _ state: inout State) {
        let width = self.terminal.width - 1
        let frame = ProgressFrame.text(
            over: state.drawn, finished: [], running: lines.map { String($0.prefix(width)) })
        if !frame.isEmpty { Output.status(frame) }
        state.drawn = lines.count
    }
}
