// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PintleLoop
internal import PintleMessage
package import PintleTrust

/// A connection that was made, and that nobody uses yet. It belongs to who gets it.
package struct MadeConnection {
    /// Connected and non-blocking.
    let descriptor: Int32
    /// Carries the bytes; nil where they go over the socket as they are.
    let tls: TLSConnection?
    /// True where ``tls`` is with the origin, and not only with a proxy.
    let isToOrigin: Bool
    /// TLS with an https proxy, which may carry ``tls``.
    let proxyTLS: TLSConnection?
    /// The verdict on the origin's chain: of this handshake, or of the one that its session began with.
    package let verdict: Verdict?
    /// The verdict on the chain of an https proxy.
    package let proxyVerdict: Verdict?
    /// The peer's address, empty by a proxy that has not said it.
    package let address: String
    /// Such as `TLSv1.3`; empty without TLS with the origin.
    package let tlsVersion: String

    /// The socket, where bytes go over it as they are.
    package var socket: Int32? { self.tls == nil ? self.descriptor : nil }

    /// True where HTTP/2 was agreed on by ALPN.
    var speaksHTTP2: Bool { self.tls?.negotiated?.applicationProtocol == "h2" }

    /// Tells whether every verdict that the connection began with holds at a moment.
    func isTrusted(at moment: UnixTime) -> Bool {
        self.proxyTLS?.isTrusted(at: moment) ?? true && (!self.isToOrigin || self.tls?.isTrusted(at: moment) ?? true)
    }

    /// A channel over the connection, which closes it; call `start()` when the pipeline is set up.
    package func makeChannel(on loop: Loop) -> SocketChannel {
        SocketChannel(descriptor: self.descriptor, loop: loop, transport: self.transport)
    }

    /// The socket for who passes bytes on, which closes it.
    package func release() -> ReleasedSocket {
        ReleasedSocket(descriptor: self.descriptor, transport: self.transport)
    }

    private var transport: TLSClientTransport? { self.tls.map { TLSClientTransport($0, descriptor: self.descriptor) } }

    /// Closes the connection; only before something was made of it.
    package func close() { Glibc.close(self.descriptor) }
}

extension MadeConnection {
    /// A socket that was connected elsewhere, non-blocking.
    package init(socket: Int32) {
        self.init(
            descriptor: socket, tls: nil, isToOrigin: false, proxyTLS: nil, verdict: nil, proxyVerdict: nil,
            address: "", tlsVersion: "")
    }
}
