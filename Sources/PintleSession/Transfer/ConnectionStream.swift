// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
package import PintleLoop
internal import PintleMessage
internal import PintleTrust

/// The bytes of a connection that libcurl has made and goes on carrying: TLS under the session's policy, over whatever
/// way leads there.
///
/// The easy handle stays in its multi handle for as long as the stream is open: libcurl closes such a connection when the
/// handle is taken out. Events of the socket are the channel's; libcurl is only called to move bytes.
package final class ConnectionStream: StreamTransport {
    /// What to watch. It is libcurl's, and closed by it.
    package let descriptor: Int32
    /// Nil when the stream is closed.
    private var transfer: Transfer?
    /// Whether the session was closed: nothing is moved any more.
    private var isBroken = false

    init(_ transfer: Transfer, descriptor: Int32) {
        self.transfer = transfer
        self.descriptor = descriptor
    }

    deinit { self.transfer?.pool.closeStream(of: self.transfer) }

    /// Such as `TLSv1.3`; empty before anything was read or written.
    package var tlsVersion: String {
        self.transfer?.easy.tlsConnection().map { TLSConnection.version(of: $0) } ?? ""
    }

    package func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        self.move(.read) { easy, count in curl_easy_recv(easy, space.baseAddress, space.count, &count) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        self.move(.write) { easy, count in curl_easy_send(easy, bytes.baseAddress, bytes.count, &count) }
    }

    /// - Parameter direction: what to wait for. libcurl does not say it, and TLS waits for the other direction only to
    ///   renegotiate, which is off, or while what it sends of itself does not fit.
    private func move(
        _ direction: Readiness, _ call: (UnsafeMutableRawPointer, inout Int) -> CURLcode
    ) -> StreamOutcome {
        guard let transfer, !self.isBroken else { return .failed(ChannelError.ioOnClosedChannel) }
        var count = 0
        switch call(transfer.easyPointer, &count) {
        case CURLE_OK: return count > 0 ? .bytes(count) : .end
        case CURLE_AGAIN: return .wouldBlock(until: direction)
        case let code:
            return .failed(
                SessionError(.connectionBroken, "the connection broke", cause: "libcurl's code \(code.rawValue)"))
        }
    }

    /// libcurl 7.88 has no call for this.
    package func shutdownOutput() {
        guard let transfer else { return }
        // By an https proxy an origin's TLS has another layer between itself and the socket.
        let isDouble = transfer.errand.scheme == .https && transfer.errand.proxy?.server.scheme == .https
        if !isDouble, let ssl = transfer.easy.tlsConnection() {
            TLSConnection.finishSending(ssl, on: self.descriptor)
        }
        shutdown(self.descriptor, Int32(SHUT_WR))
    }

    package func close() {
        let transfer = self.transfer
        self.transfer = nil
        transfer?.pool.closeStream(of: transfer)
    }

    /// Ends the connection from below: the session is closed. The channel finds out and closes.
    func breakOff() {
        self.isBroken = true
        shutdown(self.descriptor, Int32(SHUT_RDWR))
    }
}
