// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import PintleMessage
internal import PintleSession

/// Shows the progress of a session's tasks on standard error.
actor ProgressDisplay {
    /// A transfer, with the time since when it is shown.
    struct Row: Sendable {
        var bar: ProgressBar
        let began: ContinuousClock.Instant
    }

    /// The time between two frames, short enough to look alive. Stuck transfers are drawn too: their speed falls.
    private static let period = DispatchTimeInterval.milliseconds(200)

    private let terminal: Terminal
    private var rows: [Int: Row] = [:]
    private var drawn = 0

    init(terminal: Terminal) { self.terminal = terminal }

    /// Shows progress until the session has ended and every bar is finished.
    func follow(_ events: AsyncStream<SessionEvent>) async {
        let (ticks, tick) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + Self.period, repeating: Self.period)
        timer.setEventHandler { tick.yield() }
        timer.resume()
        defer { timer.cancel() }
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in ticks { await self.draw() }
            }
            for await event in events {
                guard case .taskResumed(let task) = event else { continue }
                let url = task.originalRequest.url
                let row = Row(bar: ProgressBar(url.fileName ?? url.authority.host), began: .now)
                let line = ProgressLine(number: task.id, row: row, display: self)
                let binding = task.bindProgress(to: line)
                group.addTask {
                    await binding.wait()
                    // A binding does not retain its reporter.
                    withExtendedLifetime(line) {}
                }
            }
            tick.finish()
        }
    }

    /// Stores the state of a row for the next frame.
    func show(_ row: Row, _ number: Int) { self.rows[number] = row }

    /// Draws a row for the last time.
    func finish(_ row: Row, _ number: Int) {
        self.rows[number] = nil
        self.draw(finishing: [row.bar])
    }

    private func draw(finishing finished: [ProgressBar] = []) {
        // A terminal wraps a line that fills its whole width.
        let width = self.terminal.width - 1
        let now = ContinuousClock.Instant.now
        let running = self.rows.sorted { $0.key < $1.key }.map { _, row in
            var bar = row.bar
            bar.elapsed = now - row.began
            return bar
        }
        func line(_ bar: ProgressBar) -> String { bar.line(width: width, isColoured: self.terminal.hasColour) }
        Output.status(
            ProgressFrame.text(over: self.drawn, finished: finished.map(line), running: running.map(line)))
        self.drawn = running.count
    }
}

/// The progress line of one task.
private actor ProgressLine: ProgressReporter {
    private let number: Int
    private var row: ProgressDisplay.Row
    private let display: ProgressDisplay

    init(number: Int, row: ProgressDisplay.Row, display: ProgressDisplay) {
        self.number = number
        self.row = row
        self.display = display
    }

    func report(_ progress: TaskProgress) async {
        self.row.bar.update(progress)
        await self.display.show(self.row, self.number)
    }

    func finish(_ error: SessionError?) async {
        self.row.bar.elapsed = .now - self.row.began
        self.row.bar.ending = error == nil ? .done : .failed
        await self.display.finish(self.row, self.number)
    }
}

extension ProgressBar {
    fileprivate mutating func update(_ progress: TaskProgress) {
        // The first update includes the bytes from an earlier transfer.
        if self.received == 0 { self.resumedAt = progress.received }
        self.sent = progress.sent
        self.expectedToSend = progress.expectedToSend
        self.received = progress.received
        self.expectedToReceive = progress.expectedToReceive
    }
}
