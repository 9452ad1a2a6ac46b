// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Says on standard error what a command waits for, and for how long at most, once the wait takes longer than a second.
struct WaitNotice {
    private static let delay = DispatchTimeInterval.seconds(1)

    private let timer: any DispatchSourceTimer

    /// Begins to wait. Call ``end()`` when the wait is over.
    ///
    /// - Parameter tell: gets the sentence. Default: it goes to standard error.
    init(_ sentence: String, telling tell: @escaping @Sendable (String) -> Void = { Output.error($0) }) {
        self.timer = DispatchSource.makeTimerSource()
        self.timer.setEventHandler { tell(sentence) }
        self.timer.schedule(deadline: .now() + Self.delay)
        self.timer.resume()
    }

    func end() { self.timer.cancel() }
}
