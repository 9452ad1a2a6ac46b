// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// The signals that this process receives, in their order.
///
/// Handlers write into a pipe, because they run on any thread that has not blocked the signal, and may do little else.
struct SignalPipe {
    /// Can be read as long as signals wait; for poll(2).
    let descriptor: Int32
    private let writingEnd: Int32

    /// Catches signals from now on, until the process ends.
    init(_ signals: [Int32]) throws(SystemError) {
        let pipe = try NonBlockingPipe()
        (self.descriptor, self.writingEnd) = (pipe.readingEnd, pipe.writingEnd)
        pintle_catch_signals(signals.reduce(0) { $0 | 1 << UInt64($1 - 1) }, pipe.writingEnd)
    }

    /// Waits until signals arrive or `deadline` has passed, and returns the signals.
    func wait(until deadline: ContinuousClock.Instant?) -> [pintle_signal] {
        var place = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        let left = deadline.map { ContinuousClock.now.duration(to: $0).roundedMilliseconds + 1 }
        return poll(&place, 1, left.map { Int32(clamping: $0) } ?? -1) > 0 ? self.take() : []
    }

    /// Ends the present or the next wait, from any thread.
    func wake() {
        var nothing = pintle_signal()
        // A full pipe wakes anyway.
        _ = write(self.writingEnd, &nothing, MemoryLayout<pintle_signal>.size)
    }

    /// Returns the signals that have arrived.
    func take() -> [pintle_signal] {
        var signals = [pintle_signal](repeating: pintle_signal(), count: 64)
        // Each signal is written in one piece, so none is read in two.
        let count = signals.withUnsafeMutableBytes { Glibc.read(self.descriptor, $0.baseAddress, $0.count) }
        return signals.prefix(max(0, count) / MemoryLayout<pintle_signal>.size).filter { $0.number != 0 }
    }
}
