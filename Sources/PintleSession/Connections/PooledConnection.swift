// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// A connection of a pool.
enum PooledConnection {
    case http1(HTTP1Connection)
    case http2(HTTP2Connection)

    /// Closes the connection.
    func close() {
        switch self {
        case .http1(let connection): connection.close()
        case .http2(let connection): connection.close()
        }
    }

    /// Takes the connection out of use if it cannot carry another transfer now, or its peer is no longer trusted.
    ///
    /// - Returns: true if it did.
    func retireIfUnfit() -> Bool {
        switch self {
        case .http1(let connection):
            if connection.mayBeReused, connection.made.isTrusted(at: .now) { return false }
            connection.close()
            return true
        case .http2(let connection): return connection.leaveIfUnfit()
        }
    }
}
