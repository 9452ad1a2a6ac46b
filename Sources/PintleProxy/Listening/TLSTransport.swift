// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleLoop
internal import PintleSession
internal import PintleTrust

/// The bytes of a client on a listener with TLS.
///
/// A client that does not know that it should speak TLS gets an answer that it can read: what begins like a request in
/// clear is passed on as it is, and whoever gets it refuses it.
final class TLSTransport: StreamTransport {
    private enum Mode {
        /// Nothing has come yet, and there is nothing to keep for it.
        case silent
        case tls(TLSConnection)
        case plain
    }

    private let context: TLSServerContext
    private let descriptor: Int32
    private var mode = Mode.silent
    private(set) var shutdownNeeds: Readiness?
    /// Called before the first byte of what came in clear is handed out.
    var whenPlainText: (() -> Void)?

    /// - Parameter descriptor: connected and non-blocking; it is closed by ``close()``.
    init(_ context: TLSServerContext, descriptor: Int32) {
        self.context = context
        self.descriptor = descriptor
    }

    /// Whether a handshake has begun and is not complete.
    var isShakingHands: Bool {
        guard case .tls(let connection) = self.mode else { return false }
        return !connection.isEstablished
    }

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        switch self.mode {
        case .tls(let connection): return StreamOutcome(connection.read(into: space))
        case .plain:
            return StreamOutcome(recv(self.descriptor, space.baseAddress, space.count, 0), of: "recv", until: .read)
        case .silent:
            var first: UInt8 = 0
            let count = recv(self.descriptor, &first, 1, Int32(MSG_PEEK))
            guard count > 0 else { return StreamOutcome(count, of: "recv", until: .read) }
            return self.begin(first) ?? self.read(into: space)
        }
    }

    /// Chooses how to go on by the first byte: TLS begins with 22 (RFC 8446 §5.1), a method with a letter.
    private func begin(_ first: UInt8) -> StreamOutcome? {
        if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first {
            self.mode = .plain
            self.whenPlainText?()
            return nil
        }
        do throws(TrustError) {
            self.mode = .tls(try TLSConnection(self.context, descriptor: self.descriptor))
            return nil
        } catch {
            return .failed(error)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        switch self.mode {
        case .tls(let connection): return StreamOutcome(connection.write(bytes))
        case .silent, .plain:
            let count = send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            return StreamOutcome(count, of: "send", until: .write)
        }
    }

    func shutdownOutput() {
        self.shutdownNeeds = nil
        if case .tls(let connection) = self.mode, connection.finishOutput() == .wantsWrite {
            self.shutdownNeeds = .write
        } else {
            shutdown(self.descriptor, Int32(SHUT_WR))
        }
    }

    func close() {
        self.mode = .silent
        Glibc.close(self.descriptor)
    }
}
