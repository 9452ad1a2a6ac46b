// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The retries of a transfer before any byte of a response has come: when, and how many.
package struct TransferRetries: Sendable, Equatable {
    /// The highest number of retries. Default 1.
    package var limit = 1
    /// True if the request is sent again, over a new connection, when a kept one turns out to be closed (RFC 9112
    /// §9.3.1), or its stream is refused unseen. Default true.
    package var onStaleConnection = true
    /// True if another connection is tried when none could be made, for idempotent methods. Default false.
    package var onConnectFailure = false

    /// Makes rules with the defaults.
    package init() {}

    /// Returns the wait before a retry of the connection. Its maximum doubles from 25 ms to a second, and its random
    /// length is at least half of that, so that the clients of an origin that restarts do not all return at the same
    /// time.
    ///
    /// - Parameter number: the number of the retry, counted from 1.
    static func wait(before number: Int) -> TimeAmount {
        let longest: Int64 = min(1000, 25 << Int64(min(number - 1, 10)))
        return .milliseconds(.random(in: longest / 2...longest))
    }
}

extension SessionError {
    /// True if no connection could be made, for a reason that may pass.
    var isConnectFailure: Bool {
        switch self.code {
        case .connectFailure, .connectionRefused, .connectTimeout, .networkUnreachable: true
        default: false
        }
    }
}
