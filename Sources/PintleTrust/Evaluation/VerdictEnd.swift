// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Keeps with a TLS session until when the verdict holds that it began with.
///
/// A kept connection and a resumed session serve by a verdict of the past. The note lies in the `SSL_SESSION`, because it
/// goes where the session goes: into the tickets of TLS 1.3, which are copies of it, and into the caches of whoever
/// makes the connections.
enum VerdictEnd {
    /// A place in every `SSL_SESSION`. Copies of a session copy what is there as it is: a number, not an address.
    private static let index = pintle_ssl_session_ex_new_index()
    private static let never = Int.max

    /// Notes the end of the verdict on a connection whose handshake is under way.
    ///
    /// - Parameter end: the first moment at which the verdict does not hold; nil for never.
    static func note(_ end: UnixTime?, on connection: OpaquePointer) {
        guard self.index >= 0, let session = SSL_get_session(connection) else { return }
        // Zero would be no note.
        let number = end.map { max(1, Int(clamping: $0.seconds)) } ?? self.never
        SSL_SESSION_set_ex_data(session, self.index, UnsafeMutableRawPointer(bitPattern: number))
    }

    /// Shortens what was noted before.
    static func shorten(to end: UnixTime, on connection: OpaquePointer) {
        let known = self.number(of: connection).map { UnixTime(seconds: Int64($0)) }
        self.note(known.map { min($0, end) } ?? end, on: connection)
    }

    /// Whether the verdict that a connection's session began with holds at a moment. A session without a note began with
    /// none.
    static func holds(on connection: OpaquePointer, at moment: UnixTime) -> Bool {
        guard let number = self.number(of: connection) else { return false }
        return number == self.never || moment.seconds < Int64(number)
    }

    private static func number(of connection: OpaquePointer) -> Int? {
        guard self.index >= 0, let session = SSL_get_session(connection) else { return nil }
        return SSL_SESSION_get_ex_data(session, self.index).map { Int(bitPattern: $0) }
    }

    /// Has connections of a context resume no session whose verdict has run out.
    static func limitResumption(in sslContext: OpaquePointer) { SSL_CTX_set_info_callback(sslContext, resumeWhatHolds) }
}

/// Called by OpenSSL about whatever happens in a handshake; at its start the session to resume is there, and the
/// ClientHello that offers it is not.
private func resumeWhatHolds(connection: OpaquePointer?, event: CInt, result: CInt) {
    guard event & SSL_CB_HANDSHAKE_START != 0, let connection, SSL_get_session(connection) != nil,
        !VerdictEnd.holds(on: connection, at: .now)
    else { return }
    SSL_set_session(connection, nil)
}
