// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PintleMessage
internal import PintleSession

/// Shows on standard error how the tasks of a session get on.
actor ProgressDisplay {
    private struct Row {
        var bar: ProgressBar
        let began: ContinuousClock.Instant
    }

    /// Often enough to look alive. Transfers that are stuck are drawn too: their speed sinks.
    private static let period = DispatchTimeInterval.milliseconds(200)

    private let terminal: Terminal
    private var rows: [Int: Row] = [:]
    private var drawn = 0

    init(terminal: Terminal) { self.terminal = terminal }

    /// Returns when the session has ended, with every bar finished.
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
                group.addTask { await self.follow(task) }
            }
            tick.finish()
        }
    }

    private func follow(_ task: SessionTask) async {
        let url = task.originalRequest.url
        var row = Row(bar: ProgressBar(url.fileName ?? url.authority.host), began: .now)
        for await progress in task.progressStream {
            row.bar.update(progress)
            self.rows[task.id] = row
        }
        self.rows[task.id] = nil
        row.bar.elapsed = .now - row.began
        row.bar.ending = task.error == nil ? .done : .failed
        self.draw(finishing: [row.bar])
    }

    private func draw(finishing finished: [ProgressBar] = []) {
        // A terminal wraps a line that fills it.
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

extension ProgressBar {
    fileprivate mutating func update(_ progress: TaskProgress) {
        // The first bytes that are seen include what was there before.
        if self.received == 0 { self.resumedAt = progress.received }
        self.sent = progress.sent
        self.expectedToSend = progress.expectedToSend
        self.received = progress.received
        self.expectedToReceive = progress.expectedToReceive
    }
}
