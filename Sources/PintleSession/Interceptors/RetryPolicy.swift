// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// When a request is worth being made again, and how long to wait before.
public struct RetryPolicy: Sendable, Hashable {
    /// The most times that one request is made again. Default 2.
    public var limit = 2
    /// Statuses that may be others later. Default 408, 429, 500, 502, 503 and 504.
    public var statusCodes: Set<UInt16> = [408, 429, 500, 502, 503, 504]
    /// The longest wait before the first repetition; before each further one it may be twice as long. Default 500 ms.
    public var firstDelay = Duration.milliseconds(500)
    /// The longest wait that doubling leads to. Default 30 s.
    public var longestDelay = Duration.seconds(30)
    /// A server that asks for more patience than this (Retry-After, RFC 9110 §10.2.3) is not asked again. Default 60 s.
    public var longestRetryAfter = Duration.seconds(60)

    /// Makes a policy with the defaults.
    public init() {}

    /// How long to wait before the next attempt; nil where none is worth it.
    ///
    /// - Parameter jitter: 0…1: how much of the longest wait is waited.
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

    /// Waits of random length keep clients that failed together from coming back together.
    private func backOff(_ attempt: Int, _ jitter: Double) -> Duration {
        let doubled = self.firstDelay * (1 << min(attempt - 1, 30))
        return min(doubled, self.longestDelay) * max(0, min(1, jitter))
    }
}

extension Interceptor {
    /// Makes requests again whose failure may pass: idempotent ones (``SessionRequest/isIdempotent``), and others where
    /// nothing can have reached the server. Waits grow, are of random length, and are as long as Retry-After says where
    /// there is one.
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
    /// Idempotent by its method (RFC 9110 §9.2.2), unless the program knows better.
    fileprivate var isRepeatable: Bool {
        self.isIdempotent ?? RequestHead.isIdempotent(self.method)
    }
}

extension SessionError {
    /// Nothing of the request can have reached the server.
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
    /// How long the server wants not to be asked (RFC 9110 §10.2.3); nil where it does not say, or not in a way that
    /// can be read.
    ///
    /// - Parameter now: in seconds since 1970.
    func retryAfter(at now: Int64) -> Duration? {
        guard let value = self.fields["Retry-After"] else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that no clock reaches is as good as the largest that one does.
            return .seconds(Int64(value) ?? Int64(UInt32.max))
        }
        guard let moment = HTTPDate.seconds(value) else { return nil }
        return .seconds(max(0, moment - now))
    }
}
