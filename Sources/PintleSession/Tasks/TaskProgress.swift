// SPDX-License-Identifier: Apache-2.0

/// The number of bytes of a task's bodies that were sent and received.
///
/// Only bodies count, without heads and framing. The bodies of redirects and challenges do not count as received, and a
/// body that is sent again counts from zero.
public struct TaskProgress: Sendable, Hashable {
    /// Bytes of the request's body that the server's connection has taken.
    public package(set) var sent: UInt64 = 0
    /// The length of the request's body; nil while it is unknown.
    public package(set) var expectedToSend: UInt64?
    /// Bytes of the response's body, including those that a resumed download already had.
    public package(set) var received: UInt64 = 0
    /// The length of the response's body; nil while it is unknown.
    public package(set) var expectedToReceive: UInt64?

    /// Makes progress, for tests.
    public init(
        sent: UInt64 = 0, expectedToSend: UInt64? = nil, received: UInt64 = 0, expectedToReceive: UInt64? = nil
    ) {
        self.sent = sent
        self.expectedToSend = expectedToSend
        self.received = received
        self.expectedToReceive = expectedToReceive
    }

    /// The part of the request's body that was sent, 0…1; nil while its length is unknown.
    public var fractionSent: Double? { Self.fraction(self.sent, of: self.expectedToSend) }
    /// The part of the response's body that was received, 0…1; nil while its length is unknown.
    public var fractionReceived: Double? { Self.fraction(self.received, of: self.expectedToReceive) }

    private static func fraction(_ done: UInt64, of whole: UInt64?) -> Double? {
        guard let whole else { return nil }
        return whole == 0 ? 1 : min(1, Double(done) / Double(whole))
    }
}

/// The measurements of a task: one entry for each request that it made, including redirects, challenges and retries.
public struct TaskMetrics: Sendable, Equatable {
    /// The requests in their order; the last one brought the result.
    public package(set) var transactions: [TransferMetrics] = []
    /// The number of redirects that were followed.
    public package(set) var redirectCount = 0

    /// Makes metrics, for tests.
    public init(transactions: [TransferMetrics] = [], redirectCount: Int = 0) {
        self.transactions = transactions
        self.redirectCount = redirectCount
    }

    /// The sum of the times of all requests, without the time between them.
    public var total: Duration { self.transactions.reduce(.zero) { $0 + $1.total } }
}
