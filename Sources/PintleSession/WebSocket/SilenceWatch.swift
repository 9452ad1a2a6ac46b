// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Decides when a silent server is sent a ping, and when it counts as gone.
struct SilenceWatch {
    /// The next action of the owner.
    enum Step: Equatable {
        case wait(until: NIODeadline)
        /// Send a ping, and call again at this time.
        case ping(until: NIODeadline)
        case giveUp
    }

    private let interval: TimeAmount
    private let timeout: TimeAmount
    private var lastArrival: NIODeadline
    /// The time of the unanswered ping; nil if the server has sent something since.
    private var question: NIODeadline?

    init(_ keepAlive: WebSocketOptions.KeepAlive, at now: NIODeadline) {
        self.interval = TimeAmount(limit: keepAlive.interval)
        self.timeout = TimeAmount(limit: keepAlive.timeout)
        self.lastArrival = now
    }

    /// The longest silence before the server counts as gone.
    var limit: TimeAmount { self.interval + self.timeout }

    /// Notes that the server has sent something, or that the connection is not being read.
    ///
    /// - Returns: true if a ping was unanswered, so that the next step may be due earlier.
    mutating func heard(at now: NIODeadline) -> Bool {
        defer { self.question = nil }
        self.lastArrival = now
        return self.question != nil
    }

    mutating func step(at now: NIODeadline) -> Step {
        if let question {
            return now < question + self.timeout ? .wait(until: question + self.timeout) : .giveUp
        }
        guard now >= self.lastArrival + self.interval else { return .wait(until: self.lastArrival + self.interval) }
        self.question = now
        return .ping(until: now + self.timeout)
    }
}
