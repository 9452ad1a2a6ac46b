// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession

/// The data of a new tunnel, or of a connection that switches protocols; without the connection of the client.
struct TunnelTerms {
    /// The connection to the other end.
    let origin: DetachedSocket
    /// The head of the response; nil stands for the response to CONNECT, which the client of an intercepted tunnel has already.
    let head: ResponseHead?
    /// Bytes that the other end has sent already.
    let early: ByteBuffer
    /// Changes the other end's bytes; nil if they pass as they are.
    let filter: (any HandedOverFilter)?
    /// Inspects the other end's plaintext bytes, before the client gets them.
    let watch: ServerCertificateInspector?
    /// The destination that the client asked for with CONNECT; nil if protocols were switched.
    let authority: Authority?
    /// The record, which is closed when the tunnel is over.
    let report: ExchangeReport
    let active: ActiveConfiguration
}

extension TunnelTerms {
    /// Takes over the connection of `handoff`.
    init(
        _ handoff: ConnectionHandoff, head: ResponseHead?, _ watch: ServerCertificateInspector?,
        to authority: Authority?, _ report: ExchangeReport, _ active: ActiveConfiguration
    ) {
        self.init(
            origin: handoff.connection.release(), head: head, early: handoff.early, filter: handoff.filter,
            watch: watch, authority: authority, report: report, active: active)
    }
}
