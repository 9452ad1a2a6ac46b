// SPDX-License-Identifier: Apache-2.0

/// When an ``EventSource`` connects again (WHATWG HTML §9.2.3).
public struct EventReconnection: Sendable, Hashable {
    /// How long to wait until the stream tells another time (`retry`). Default 3 s.
    public var delay = Duration.seconds(3)
    /// The shortest and the longest time to wait, whatever the stream tells. Default 100 ms to 2 min.
    ///
    /// After each further attempt in a row that has failed the time is doubled, up to the longest.
    public var bounds: ClosedRange<Duration> = .milliseconds(100) ... .seconds(120)
    /// How many attempts in a row may fail before the last one's error is thrown; nil for any number, as the standard has
    /// it. A stream that begins and ends is no attempt that has failed. Default nil.
    public var failureLimit: Int?
    /// The methods of requests that may be sent again. Default GET.
    public var methods: Set<String> = ["GET"]

    /// Makes the defaults.
    public init() {}

    /// How long to wait.
    ///
    /// - Parameters:
    ///   - retry: what the stream has told.
    ///   - failures: how many attempts have failed in a row.
    /// - Returns: nil where no further attempt is made.
    package func pause(after failures: Int, retry: Duration?) -> Duration? {
        if let failureLimit, failures > 0, failures >= failureLimit { return nil }
        let (shortest, longest) = (self.bounds.lowerBound, self.bounds.upperBound)
        var pause = min(max(retry ?? self.delay, shortest), longest)
        var doublings = max(0, failures - 1)
        while doublings > 0, pause > .zero {
            guard pause < longest / 2 else { return longest }
            pause *= 2
            doublings -= 1
        }
        return pause
    }
}
