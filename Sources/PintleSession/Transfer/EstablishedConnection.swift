// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PintleLoop
internal import PintleMessage
package import PintleTrust

/// An established connection that is not used yet. Its receiver owns it.
package struct EstablishedConnection {
    /// Connected and non-blocking.
    let descriptor: Int32
    /// Carries the bytes; nil if they go over the socket in plaintext.
    let tls: TLSConnection?
    /// True if ``tls`` is with the origin, false if it is only with a proxy.
    let isToOrigin: Bool
    /// TLS with an https proxy, which may carry ``tls``.
    let proxyTLS: TLSConnection?
    /// The verdict on the origin's chain: from this handshake, or from the first one of its TLS session.
    package let verdict: Verdict?
    /// The verdict on the chain of an https proxy.
    package let proxyVerdict: Verdict?
    /// The peer's address; empty if a proxy has not told it.
    package let address: String
    /// The version, such as `TLSv1.3`; empty without TLS with the origin.
    package let tlsVersion: String

    /// The socket, if bytes go over it in plaintext; otherwise nil.
    package var socket: Int32? { self.tls == nil ? self.descriptor : nil }

    /// True if HTTP/2 was agreed on by ALPN.
    var speaksHTTP2: Bool { self.tls?.negotiated?.applicationProtocol == "h2" }

    /// Returns true if all verdicts of the connection are valid at a moment.
    func isTrusted(at moment: UnixTime) -> Bool {
        self.proxyTLS?.isTrusted(at: moment) ?? true && (!self.isToOrigin || self.tls?.isTrusted(at: moment) ?? true)
    }

    /// Makes a channel over the connection, which closes it; call `start()` when the pipeline is set up.
    package func makeChannel(on loop: Loop) -> SocketChannel {
        SocketChannel(descriptor: self.descriptor, loop: loop, transport: self.transport)
    }

    /// Returns the socket, with its TLS, to a relay of bytes, which must close it.
    package func release() -> DetachedSocket {
        DetachedSocket(descriptor: self.descriptor, transport: self.transport)
    }

    private var transport: TLSClientTransport? { self.tls.map { TLSClientTransport($0, descriptor: self.descriptor) } }

    /// Closes the connection; allowed only while no channel or relay has it.
    package func close() { Glibc.close(self.descriptor) }
}

extension EstablishedConnection {
    /// Makes a connection from a socket that was connected elsewhere and is non-blocking.
    package init(socket: Int32) {
        self.init(
            descriptor: socket, tls: nil, isToOrigin: false, proxyTLS: nil, verdict: nil, proxyVerdict: nil,
            address: "", tlsVersion: "")
    }
}
