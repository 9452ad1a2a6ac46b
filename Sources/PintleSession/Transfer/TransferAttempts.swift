// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// The attempts of a transfer to get a response: which follow a failure, and how many there were.
struct TransferAttempts {
    /// A reason to send the request again.
    enum Resend {
        /// A kept connection has ended before any byte of the response. Its peer may have seen the request, so that it must be
        /// repeatable (RFC 9112 §9.3.1).
        case lost
        /// The peer has not processed the request, and says so (RFC 9113 §8.7).
        case refused
        /// The peer took no more requests on the connection when this one came, or none of HTTP/2. Any other connection to it will
        /// do.
        case turnedAway
    }

    private enum Sending {
        case first
        /// The request is sent once more, after it was lost or refused.
        case again
    }

    /// The most connections that may turn the request away: a server that takes only five requests on each connection refuses
    /// those of a busy client again and again.
    private static let mostTurnedAway = 16

    private var sending = Sending.first
    /// The number of retries, of the connection or of the request.
    private var retries = 0
    /// The number of connections that have turned the request away.
    private var turnedAway = 0

    /// The number of attempts after the first.
    var count: Int { self.retries + self.turnedAway }

    /// The connections that may be used when an earlier one could not be made: a request that is sent once more needs a new one.
    var choice: TransferPool.State.Choice { self.sending == .again ? .new : .any }

    // MARK: Sending again

    /// Returns the reason to send the request again after a failure; nil if the transfer ends by it.
    ///
    /// - Parameters:
    ///   - afterUse: true if the connection has carried an earlier response.
    ///   - received: the part of the response that had come. It shows that the request was seen, whatever the peer says.
    func resend(
        after failure: CarrierFailure, afterUse: Bool, received: ResponsePart, by rules: TransferRetries
    ) -> Resend? {
        guard received == .nothing else { return nil }
        switch failure {
        case .refused: return self.maySendAgain(by: rules) ? .refused : nil
        case .unseen, .http1Required: return self.turnedAway < Self.mostTurnedAway ? .turnedAway : nil
        case .closed, .broken, .brokenFrames: return afterUse && self.maySendAgain(by: rules) ? .lost : nil
        case .malformed, .reset, .excessive: return nil
        }
    }

    private func maySendAgain(by rules: TransferRetries) -> Bool {
        self.sending == .first && rules.onStaleConnection && self.retries < rules.limit
    }

    /// Counts a request that is sent again.
    ///
    /// - Returns: the connections that it may use.
    mutating func note(_ resend: Resend) -> TransferPool.State.Choice {
        switch resend {
        case .turnedAway:
            self.turnedAway += 1
            return .any
        case .lost, .refused:
            self.sending = .again
            self.retries += 1
            return .new
        }
    }

    // MARK: Connecting again

    /// True if another connection may be tried after one could not be made.
    func mayConnectAgain(after error: SessionError, with method: String, by rules: TransferRetries) -> Bool {
        rules.onConnectFailure && error.isConnectFailure && self.retries < rules.limit
            && RequestHead.isIdempotent(method)
    }

    /// Counts another connection.
    ///
    /// - Returns: the wait before it.
    mutating func noteConnection() -> TimeAmount {
        self.retries += 1
        return TransferRetries.wait(before: self.retries)
    }
}
