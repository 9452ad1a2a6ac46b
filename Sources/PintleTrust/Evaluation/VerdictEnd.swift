// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Stores in a TLS session the end of the verdict that it began with.
///
/// A kept connection and a resumed session rely on an earlier verdict. The end is stored in the `SSL_SESSION`, because it
/// then goes wherever the session goes: into the tickets of TLS 1.3, which are copies of it, and into the caches of the
/// code that makes the connections.
enum VerdictEnd {
    /// A slot in every `SSL_SESSION`. Copies of a session copy its value unchanged: a number, not an address.
    private static let index = pintle_ssl_session_ex_new_index()
    private static let never = Int.max

    /// Stores the end of the verdict on a connection during its handshake.
    ///
    /// - Parameter end: the first moment at which the verdict no longer holds; nil for never.
    static func note(_ end: UnixTime?, on connection: OpaquePointer) {
        guard self.index >= 0, let session = SSL_get_session(connection) else { return }
        // Zero would be the value of an empty slot.
        let number = end.map { max(1, Int(clamping: $0.seconds)) } ?? self.never
        SSL_SESSION_set_ex_data(session, self.index, UnsafeMutableRawPointer(bitPattern: number))
    }

    /// Moves the stored end to `end` if that is earlier.
    static func shorten(to end: UnixTime, on connection: OpaquePointer) {
        let known = self.number(of: connection).map { UnixTime(seconds: Int64($0)) }
        self.note(known.map { min($0, end) } ?? end, on: connection)
    }

    /// True if the verdict that a connection's session began with holds at a moment; false for a session without a stored
    /// end, which began without a verdict.
    static func holds(on connection: OpaquePointer, at moment: UnixTime) -> Bool {
        guard let number = self.number(of: connection) else { return false }
        return number == self.never || moment.seconds < Int64(number)
    }

    private static func number(of connection: OpaquePointer) -> Int? {
        guard self.index >= 0, let session = SSL_get_session(connection) else { return nil }
        return SSL_SESSION_get_ex_data(session, self.index).map { Int(bitPattern: $0) }
    }

    /// Prevents connections of a context from resuming a session whose verdict has expired.
    static func limitResumption(in sslContext: OpaquePointer) { SSL_CTX_set_info_callback(sslContext, resumeWhatHolds) }
}

/// Called by OpenSSL for every event of a handshake. At its start the session to resume is set, and the ClientHello that
/// offers it is not sent yet.
private func resumeWhatHolds(connection: OpaquePointer?, event: CInt, result: CInt) {
    guard event & SSL_CB_HANDSHAKE_START != 0, let connection, SSL_get_session(connection) != nil,
        !VerdictEnd.holds(on: connection, at: .now)
    else { return }
    SSL_set_session(connection, nil)
}
