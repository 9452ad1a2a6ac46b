// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The occasions on which a transfer is tried again before any byte of a response has come, and how often it is.
package struct TransferRetries: Sendable, Equatable {
    /// The most times that it is tried again. Default 1.
    package var limit = 1
    /// True where it is sent again, over a connection of its own, when a kept one turns out to be closed (RFC 9112 §9.3.1), or
    /// the stream is refused unseen. Default true.
    package var onStaleConnection = true
    /// True where another connection is tried when none could be made, for methods that are idempotent. Default false.
    package var onConnectFailure = false

    /// Makes the defaults.
    package init() {}

    /// The wait before a retry of the connection: it doubles from 25 ms to a second, and is a random part of that, at least
    /// half, so that the clients of an origin that restarts do not come back all at once.
    ///
    /// - Parameter number: of the retry, counted from 1.
    static func wait(before number: Int) -> TimeAmount {
        let longest: Int64 = min(1000, 25 << Int64(min(number - 1, 10)))
        return .milliseconds(.random(in: longest / 2...longest))
    }
}

extension SessionError {
    /// True where no connection could be made, for a reason that may pass.
    var isConnectFailure: Bool {
        switch self.code {
        case .connectFailure, .connectionRefused, .connectTimeout, .networkUnreachable: true
        default: false
        }
    }
}
