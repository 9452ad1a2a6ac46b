// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleSession
internal import PintleTrust

/// The byte stream of a client that should speak TLS with Pintle: on a TLS listener, or inside of a tunnel.
///
/// A client that sends plaintext HTTP instead gets a response that it can read: bytes that begin like a plaintext request are
/// passed on unchanged, and their recipient decides.
final class TLSTransport: StreamTransport {
    private enum Mode {
        /// No bytes have arrived yet, and no TLS state is kept.
        case silent
        case tls(TLSConnection)
        case plain
        /// The first bytes are neither TLS nor HTTP, and wait for a call of ``passOn()``.
        case opaque
    }

    private let descriptor: Int32
    /// The TLS connection between the client and the proxy that contains the tunnel; nil if there is only the socket.
    private let outer: TLSConnection?
    private let makeConnection: (TLSConnection.Carrier, _ early: [UInt8]) throws(TrustError) -> TLSConnection
    /// Bytes that were read before.
    private var early: ByteBuffer
    private let isInTunnel: Bool
    private var mode = Mode.silent
    private(set) var shutdownNeeds: Readiness?
    /// Called before the first plaintext byte is handed out.
    var whenPlainText: (() -> Void)?
    /// Called once the first bytes reveal the client's protocol, before any of them is handed out; only inside of a tunnel.
    var whenRecognized: ((OpeningProtocol) -> Void)?
    /// True if a rule lets every protocol through in this tunnel.
    var takesAnyProtocol = false

    /// Makes the transport for a TLS listener.
    ///
    /// - Parameter descriptor: connected and non-blocking; ``close()`` closes it.
    init(_ context: TLSServerContext, descriptor: Int32) {
        self.descriptor = descriptor
        self.outer = nil
        self.early = ByteBuffer()
        self.isInTunnel = false
        self.makeConnection = { _, _ throws(TrustError) in try TLSConnection(context, descriptor: descriptor) }
    }

    /// Makes the transport for the inside of a tunnel.
    ///
    /// - Parameters:
    ///   - descriptor: connected and non-blocking; ``close()`` closes it.
    ///   - outer: the transport between the client and the proxy so far; nil if it was plaintext.
    ///   - early: the bytes that the client has sent into the tunnel already.
    ///   - choose: chooses the certificate, as for `TLSConnection`.
    init(
        _ context: TLSServerContext, descriptor: Int32, inside outer: TLSTransport?, behind early: ByteBuffer,
        choosing choose: @escaping (_ serverName: String?) -> TLSConnection.IdentityChoice
    ) {
        self.descriptor = descriptor
        self.outer = outer?.connection
        self.early = early
        self.isInTunnel = true
        self.makeConnection = { carrier, early throws(TrustError) in
            try TLSConnection(context, over: carrier, behind: early, choosing: choose)
        }
    }

    /// Nil if there is no TLS, or none yet.
    private var connection: TLSConnection? { if case .tls(let connection) = self.mode { connection } else { nil } }

    /// True once the client has sent something.
    var hasBegun: Bool { if case .silent = self.mode { self.early.readableBytes > 0 } else { true } }

    /// True if a handshake has begun and is not complete.
    var isShakingHands: Bool { self.connection?.isEstablished == false }

    /// The protocol that was chosen by ALPN (RFC 7301).
    var applicationProtocol: String? { self.connection?.negotiated?.applicationProtocol }

    /// The server name in the client's handshake; nil if there is none.
    var serverName: String? { self.connection?.serverName }

    /// The port to which the client has connected; nil if it is not a TCP port of this machine.
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
            return self.receive(into: space)
        case .opaque: return .wouldBlock(until: [])
        case .silent:
            do throws(TrustError) {
                let outcome = self.isInTunnel ? try self.recognize() : try self.beginOnListener()
                return outcome ?? self.read(into: space)
            } catch {
                return .failed(error)
            }
        }
    }

    /// Receives bytes as the client has sent them.
    private func receive(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        if let outer { return StreamOutcome(outer.read(into: space)) }
        return StreamOutcome(recv(self.descriptor, space.baseAddress, space.count, 0), of: "recv", until: .read)
    }

    /// Begins with TLS; or with plaintext, if the first byte is that of a method. A handshake begins with 22 (RFC 8446 §5.1).
    ///
    /// - Returns: nil once it has begun.
    private func beginOnListener() throws(TrustError) -> StreamOutcome? {
        var first: UInt8 = 0
        let outcome = StreamOutcome(recv(self.descriptor, &first, 1, Int32(MSG_PEEK)), of: "recv", until: .read)
        guard case .bytes = outcome else { return outcome }
        try self.begin(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first ? .http : .tls)
        return nil
    }

    /// Reads bytes until they reveal the client's protocol.
    ///
    /// - Returns: nil once the protocol is known.
    private func recognize() throws(TrustError) -> StreamOutcome? {
        while true {
            if let language = OpeningProtocol(
                of: self.early.readableBytesView, takesAnyProtocol: self.takesAnyProtocol)
            {
                try self.begin(language)
                return nil
            }
            var outcome = StreamOutcome.end
            self.early.writeWithUnsafeMutableBytes(minimumWritableBytes: 2048) { space in
                outcome = self.receive(into: space)
                guard case .bytes(let count) = outcome else { return 0 }
                return count
            }
            switch outcome {
            case .bytes: continue
            // The client has ended its side within the first line.
            case .end where self.early.readableBytes > 0:
                try self.begin(self.takesAnyProtocol ? .other : .http)
                return nil
            case .end, .wouldBlock, .failed: return outcome
            }
        }
    }

    private func begin(_ language: OpeningProtocol) throws(TrustError) {
        switch language {
        case .http:
            self.mode = .plain
            self.whenPlainText?()
        case .other: self.mode = .opaque
        case .tls:
            let carrier = self.outer.map { TLSConnection.Carrier.stream($0) } ?? .socket(self.descriptor)
            self.mode = .tls(try self.makeConnection(carrier, Array(buffer: self.early)))
            self.early = ByteBuffer()
        }
        self.whenRecognized?(language)
    }

    /// Hands out the client's bytes unchanged, from the first one on. Only allowed before TLS or HTTP has begun.
    func passOn() {
        switch self.mode {
        case .silent, .opaque: self.mode = .plain
        case .tls, .plain: preconditionFailure("BUG: bytes are passed on of which some were taken")
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
