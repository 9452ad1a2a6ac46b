// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintleSession

/// Hears of an origin that is asked for one client alone before that client does: if the origin fails, a stale response may stand in
/// for it (RFC 5861 §4).
final class StaleStandIn {
    private weak var origin: CachedOrigin?
    private let reason: ForwardReason
    private let delegate: any TransferDelegate
    private var hasAnswered = false

    /// - Parameter reason: the reason why the request goes to the origin.
    init(for origin: CachedOrigin, _ reason: ForwardReason, before delegate: any TransferDelegate) {
        (self.origin, self.reason, self.delegate) = (origin, reason, delegate)
    }

    /// - Returns: true if a response stands in; the origin is not heard any more then.
    private func standsIn(for failure: OriginFailure) -> Bool {
        !self.hasAnswered && self.origin?.standIn(for: failure, self.reason) == true
    }
}

extension StaleStandIn: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.delegate.originSent(interim: head) }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        if head.status >= 500, self.standsIn(for: .status(head.status)) { return }
        self.hasAnswered = true
        self.delegate.originAnswered(head, length: length)
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) { self.delegate.originSent(bytes) }

    func originSent(_ buffer: ByteBuffer) { self.delegate.originSent(buffer) }

    func originSent(_ piped: PipedBytes) { self.delegate.originSent(piped) }

    func originSent(trailers fields: Fields) { self.delegate.originSent(trailers: fields) }

    func originTookBody(_ count: Int) { self.delegate.originTookBody(count) }

    func bodyBeginsAgain() { self.delegate.bodyBeginsAgain() }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        self.delegate.originHandedOver(handoff, metrics)
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        if error != nil, self.standsIn(for: .unreachable) { return }
        self.delegate.originEnded(error, metrics)
    }
}
