// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Says on standard error what a command waits for, and for how long at most, once the wait takes longer than a second.
struct WaitNotice {
    private static let delay = DispatchTimeInterval.seconds(1)

    private let timer: any DispatchSourceTimer

    /// Begins to wait. Call ``end()`` when the wait is over.
    init(_ sentence: String) {
        self.timer = DispatchSource.makeTimerSource()
        self.timer.setEventHandler { Output.error(sentence) }
        self.timer.schedule(deadline: .now() + Self.delay)
        self.timer.resume()
    }

    func end() { self.timer.cancel() }
}
