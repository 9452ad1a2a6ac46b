// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// Decides if a request is made again, and after which time.
public struct RetryPolicy: Sendable, Hashable {
    /// The highest number of repetitions of one request. Default 2.
    public var limit = 2
    /// The statuses that may be different later. Default 408, 429, 500, 502, 503 and 504.
    public var statusCodes: Set<UInt16> = [408, 429, 500, 502, 503, 504]
    /// The longest wait before the first repetition; it doubles with each further one. Default 500 ms.
    public var firstDelay = Duration.milliseconds(500)
    /// The limit of that doubling. Default 30 s.
    public var longestDelay = Duration.seconds(30)
    /// The longest wait that a server may demand (Retry-After, RFC 9110 §10.2.3); there is no repetition after a longer
    /// one. Default 60 s.
    public var longestRetryAfter = Duration.seconds(60)

    /// Makes a policy with the defaults.
    public init() {}

    /// Returns the time to wait before the next attempt; nil if there is none.
    ///
    /// - Parameter jitter: the fraction of the longest wait to use, 0…1.
    func delay(
        after outcome: Interceptor.Outcome, of request: SessionRequest, attempt: Int, jitter: Double, at now: Int64
    ) -> Duration? {
        guard attempt <= self.limit else { return nil }
        switch outcome {
        case .response(let head):
            guard self.statusCodes.contains(head.status), request.isRepeatable else { return nil }
            guard let wanted = head.retryAfter(at: now) else { return self.backOff(attempt, jitter) }
            return wanted <= self.longestRetryAfter ? wanted : nil
        case .failure(let error):
            guard error.isTransient, request.isRepeatable || error.precedesRequest else { return nil }
            return self.backOff(attempt, jitter)
        }
    }

    /// Returns a wait of random length, so that clients that failed together do not return together.
    private func backOff(_ attempt: Int, _ jitter: Double) -> Duration {
        let doubled = self.firstDelay * (1 << min(attempt - 1, 30))
        return min(doubled, self.longestDelay) * max(0, min(1, jitter))
    }
}

extension Interceptor {
    /// Repeats requests that failed in a way that may pass: idempotent ones (``SessionRequest/isIdempotent``), and
    /// others if no byte of them can have reached the server. Waits grow and have random lengths; if the response has a
    /// Retry-After, its time is waited.
    public static func retry(_ policy: RetryPolicy = RetryPolicy()) -> Interceptor {
        Interceptor { interceptor in
            interceptor.retry = { outcome, attempt in
                let delay = policy.delay(
                    after: outcome, of: attempt.request, attempt: attempt.number, jitter: .random(in: 0...1),
                    at: UnixTime.now.seconds)
                return delay.map { .retry(after: $0) } ?? .accept
            }
        }
    }
}

extension SessionRequest {
    /// True if the method is idempotent (RFC 9110 §9.2.2), unless the request says otherwise.
    fileprivate var isRepeatable: Bool {
        self.isIdempotent ?? RequestHead.isIdempotent(self.method)
    }
}

extension SessionError {
    /// True if no byte of the request can have reached the server.
    fileprivate var precedesRequest: Bool {
        switch self.code {
        case .dnsFailure, .connectFailure, .connectionRefused, .connectTimeout, .networkUnreachable, .exhausted,
            .overloaded:
            true
        default: false
        }
    }
}

extension ResponseHead {
    /// Returns the time that the server wants to be left alone (RFC 9110 §10.2.3); nil without a valid Retry-After.
    ///
    /// - Parameter now: the time in seconds since 1970.
    func retryAfter(at now: Int64) -> Duration? {
        guard let value = self.fields["Retry-After"] else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that overflows is replaced by a time that is longer than any limit.
            return .seconds(Int64(value) ?? Int64(UInt32.max))
        }
        guard let moment = HTTPDate.seconds(value) else { return nil }
        return .seconds(max(0, moment - now))
    }
}
