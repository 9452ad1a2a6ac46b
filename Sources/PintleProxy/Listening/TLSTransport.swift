// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleSession
internal import PintleTrust

/// The bytes of a client that is to speak TLS with Pintle: on a listener with TLS, or inside of a tunnel.
///
/// A client that does not know that it should speak TLS gets an answer that it can read: what begins like a request in
/// clear is passed on as it is, and whoever gets it decides on it.
final class TLSTransport: StreamTransport {
    private enum Mode {
        /// Nothing has come yet, and there is nothing to keep for it.
        case silent
        case tls(TLSConnection)
        case plain
    }

    private let descriptor: Int32
    /// The connection of the client in which it speaks; nil where that is the socket.
    private let outer: TLSConnection?
    private let makeConnection: (TLSConnection.Carrier, _ early: [UInt8]) throws(TrustError) -> TLSConnection
    /// The bytes that were read before.
    private var early: ByteBuffer
    private var mode = Mode.silent
    private(set) var shutdownNeeds: Readiness?
    /// Called before the first byte of what came in clear is handed out.
    var whenPlainText: (() -> Void)?

    /// On a listener.
    ///
    /// - Parameter descriptor: connected and non-blocking; it is closed by ``close()``.
    init(_ context: TLSServerContext, descriptor: Int32) {
        self.descriptor = descriptor
        self.outer = nil
        self.early = ByteBuffer()
        self.makeConnection = { _, _ throws(TrustError) in try TLSConnection(context, descriptor: descriptor) }
    }

    /// Inside of a tunnel.
    ///
    /// - Parameters:
    ///   - descriptor: as above.
    ///   - outer: what the client has spoken with the proxy until now; nil where it spoke in clear.
    ///   - early: the bytes that it has sent into the tunnel already.
    ///   - choose: as of `TLSConnection`.
    init(
        _ context: TLSServerContext, descriptor: Int32, inside outer: TLSTransport?, behind early: ByteBuffer,
        choosing choose: @escaping (_ serverName: String?) -> TLSConnection.IdentityChoice
    ) {
        self.descriptor = descriptor
        self.outer = outer?.connection
        self.early = early
        self.makeConnection = { carrier, early throws(TrustError) in
            try TLSConnection(context, over: carrier, behind: early, choosing: choose)
        }
    }

    /// Nil where there is no TLS, or none yet.
    private var connection: TLSConnection? { if case .tls(let connection) = self.mode { connection } else { nil } }

    /// True where a handshake has begun and is not complete.
    var isShakingHands: Bool { self.connection?.isEstablished == false }

    /// The protocol that was chosen by ALPN (RFC 7301).
    var applicationProtocol: String? { self.connection?.negotiated?.applicationProtocol }

    /// The name that the client has asked for in its handshake; nil where it has named none.
    var serverName: String? { self.connection?.serverName }

    /// The port that the client has connected to; nil where it is none of the machine's.
    var port: UInt16? { SocketAddress(boundTo: self.descriptor)?.port.flatMap { UInt16(exactly: $0) } }

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        switch self.mode {
        case .tls(let connection): return StreamOutcome(connection.read(into: space))
        case .plain:
            guard self.early.readableBytes == 0 else {
                let count = min(space.count, self.early.readableBytes)
                self.early.readWithUnsafeReadableBytes { bytes in
                    space.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
                    return count
                }
                return .bytes(count)
            }
            if let outer { return StreamOutcome(outer.read(into: space)) }
            return StreamOutcome(recv(self.descriptor, space.baseAddress, space.count, 0), of: "recv", until: .read)
        case .silent:
            var first: UInt8 = 0
            switch self.peek(&first) {
            case .bytes: return self.begin(first) ?? self.read(into: space)
            case let outcome: return outcome
            }
        }
    }

    private func peek(_ first: inout UInt8) -> StreamOutcome {
        if let byte = self.early.getInteger(at: self.early.readerIndex, as: UInt8.self) {
            first = byte
            return .bytes(1)
        }
        if let outer { return withUnsafeMutableBytes(of: &first) { StreamOutcome(outer.peek(into: $0)) } }
        return StreamOutcome(recv(self.descriptor, &first, 1, Int32(MSG_PEEK)), of: "recv", until: .read)
    }

    /// Chooses how to go on by the first byte: TLS begins with 22 (RFC 8446 §5.1), a method with a letter.
    private func begin(_ first: UInt8) -> StreamOutcome? {
        if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first {
            self.mode = .plain
            self.whenPlainText?()
            return nil
        }
        let carrier = self.outer.map { TLSConnection.Carrier.stream($0) } ?? .socket(self.descriptor)
        do throws(TrustError) {
            self.mode = .tls(try self.makeConnection(carrier, Array(buffer: self.early)))
            self.early = ByteBuffer()
            return nil
        } catch {
            return .failed(error)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        if let connection = self.connection ?? self.outer { return StreamOutcome(connection.write(bytes)) }
        let count = send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return StreamOutcome(count, of: "send", until: .write)
    }

    func shutdownOutput() {
        self.shutdownNeeds = nil
        if let connection = self.connection ?? self.outer, connection.finishOutput() == .wantsWrite {
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
