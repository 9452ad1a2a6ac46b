// SPDX-License-Identifier: Apache-2.0

/// The rules by which an ``EventSource`` reconnects (WHATWG HTML §9.2.3).
public struct EventReconnection: Sendable, Hashable {
    /// The wait before reconnecting, until the stream sets another (`retry`). Default 3 s.
    public var delay = Duration.seconds(3)
    /// The shortest and the longest wait, whatever the stream sets. Default 100 ms to 2 min.
    ///
    /// After each further failure in a row the wait is doubled, up to the longest.
    public var bounds: ClosedRange<Duration> = .milliseconds(100) ... .seconds(120)
    /// The number of failures in a row after which the last error is thrown; nil for no limit, as in the standard. A
    /// stream that begins and ends is not a failure. Default nil.
    public var failureLimit: Int?
    /// The methods of requests that may be sent again. Default GET.
    public var methods: Set<String> = ["GET"]

    /// Makes rules with the defaults.
    public init() {}

    /// Returns the time to wait before the next attempt.
    ///
    /// - Parameters:
    ///   - retry: the time that the stream has set.
    ///   - failures: the number of failures in a row.
    /// - Returns: nil if there is no further attempt.
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
