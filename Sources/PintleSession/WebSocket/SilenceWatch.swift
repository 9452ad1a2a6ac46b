// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Says when a server that is silent is to be asked whether it is there, and when it counts as gone.
struct SilenceWatch {
    /// The next thing to do.
    enum Step: Equatable {
        case wait(until: NIODeadline)
        /// Ask, and look again then.
        case ping(until: NIODeadline)
        case giveUp
    }

    private let interval: TimeAmount
    private let timeout: TimeAmount
    private var lastArrival: NIODeadline
    /// The time at which it was asked; nil where it has said something since.
    private var question: NIODeadline?

    init(_ keepAlive: WebSocketOptions.KeepAlive, at now: NIODeadline) {
        self.interval = TimeAmount(limit: keepAlive.interval)
        self.timeout = TimeAmount(limit: keepAlive.timeout)
        self.lastArrival = now
    }

    /// The longest silence that it lets pass.
    var limit: TimeAmount { self.interval + self.timeout }

    /// The server has said something, or is not listened to.
    ///
    /// - Returns: whether that answers a question, so that the next one is due earlier.
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
