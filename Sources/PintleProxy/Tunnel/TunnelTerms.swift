// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage

/// A tunnel that is to begin, or a connection that switches protocols: everything but the connection of the client.
struct TunnelTerms {
    /// The connection to the other end.
    let origin: ReleasedSocket
    /// The answer that the client gets; nil stands for that to CONNECT, which a client of an intercepted tunnel has already.
    let head: ResponseHead?
    /// Bytes that the other end has sent already.
    let early: ByteBuffer
    /// Looks at what the other end sends in clear, before the client gets it.
    let watch: TunnelWatch?
    /// The destination that the client asked for with CONNECT; nil where protocols were switched.
    let authority: Authority?
    /// The record that is closed when the tunnel is over.
    let report: ExchangeReport
    let active: ActiveConfiguration
}
