// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCoding
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// Puts the values of credentials into a request for an origin, and keeps its answer from repeating them.
///
/// It comes last before the transfer, so that recordings, logs, redirects and the page know placeholders only. Used on its event
/// loop's thread only.
final class CredentialOrigin {
    private let release: CredentialRelease
    private let isHead: Bool
    private let loop: Loop
    private var filler: CredentialRelease.BodyFiller
    /// The answer on its way; nil if it comes from a host that no credential is for.
    private var answer: MaskedAnswer?
    private var stream: (any OriginStream)?
    /// Nil once nothing more is told.
    private var delegate: (any TransferDelegate)?
    private var fault: ClientFault?
    /// Set once the origin has ended its answer well.
    private var end: (metrics: TransferMetrics, trailers: Fields?)?
    private var trailers: Fields?
    private var hasRoom = true
    /// True while the next step of decoding waits for its turn.
    private var isMoving = false

    init(
        _ request: consuming TransferRequest, _ release: CredentialRelease, for delegate: any TransferDelegate,
        on loop: Loop, _ connect: (consuming TransferRequest, any TransferDelegate) -> any OriginStream
    ) {
        (self.release, self.filler, self.delegate, self.loop) = (release, release.bodyFiller, delegate, loop)
        self.isHead = request.method == "HEAD"
        if release.isNamed {
            self.answer = MaskedAnswer(release.echoMask)
            // A compressed message could not be masked.
            if request.upgrade != nil { request.fields.remove("Sec-WebSocket-Extensions") }
        }
        release.fill(&request)
        self.stream = connect(consume request, self)
    }

    /// The stream until its end.
    private var live: (any OriginStream)? { self.delegate == nil ? nil : self.stream }

    /// Ends the exchange with a problem for its client.
    private func refuse(_ problem: Problem) {
        let delegate = self.delegate
        (self.delegate, self.fault) = (nil, .refusal(problem))
        let metrics = self.metrics
        if self.end == nil { self.stream?.cancel() }
        delegate?.originEnded(SessionError(.rejected, problem.detail), metrics)
    }

    private func finish(_ error: SessionError?, _ metrics: TransferMetrics) {
        let delegate = self.delegate
        self.delegate = nil
        delegate?.originEnded(error, metrics)
    }

    // MARK: The answer

    /// Takes a step of the answer: a bounded one, since a few bytes of a coding may unfold to thousands of times their number.
    private func move() {
        // It goes on with the next turn, or when the client asks for more.
        guard !self.isMoving, self.hasRoom, let answer else { return }
        do throws(ContentDecodingError) {
            try answer.step { self.delegate?.originSent($0) }
            if answer.isBehind { return self.moveLater() }
            guard let end else {
                if self.hasRoom { self.live?.resumeReading() }
                return
            }
            try answer.finish { self.delegate?.originSent($0) }
            if let trailers = end.trailers { self.delegate?.originSent(trailers: trailers) }
            self.finish(nil, end.metrics)
        } catch {
            self.refuse(
                Problem(.upstreamProtocol, "the answer to a request with a credential cannot be decoded: \(error)"))
        }
    }

    private func moveLater() {
        // The client has left, or is behind and asks for more later.
        guard let live, self.hasRoom else { return }
        if self.end == nil { live.pauseReading() }
        self.isMoving = true
        LoopBound(self, loop: self.loop).run {
            $0.isMoving = false
            $0.move()
        }
    }
}

extension CredentialOrigin: TransferDelegate {
    func originSent(interim head: ResponseHead) {
        self.delegate?.originSent(interim: self.answer?.masked(head) ?? head)
    }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        guard let answer else { return self.delegate?.originAnswered(head, length: length) ?? () }
        var (head, length) = (answer.masked(head), length)
        do throws(ContentDecodingError) {
            if !self.isHead, head.status != 204, head.status != 304, try answer.decode(&head) { length = nil }
            self.delegate?.originAnswered(head, length: length)
        } catch {
            self.refuse(
                Problem(.upstreamProtocol, "the answer to a request with a credential cannot be decoded: \(error)"))
        }
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        guard let answer else { return self.delegate?.originSent(bytes) ?? () }
        if self.hasRoom, answer.passesAtOnce { return answer.pass(bytes) { self.delegate?.originSent($0) } }
        answer.take(bytes)
        self.move()
    }

    func originSent(_ buffer: ByteBuffer) {
        if self.answer == nil { return self.delegate?.originSent(buffer) ?? () }
        buffer.withUnsafeReadableBytes { self.originSent($0) }
    }

    func originSent(_ piped: PipedBytes) { self.delegate?.originSent(piped) }

    func originSent(trailers fields: Fields) {
        guard let answer else { return self.delegate?.originSent(trailers: fields) ?? () }
        self.trailers = answer.masked(fields)
    }

    func originTookBody(_ count: Int) { self.delegate?.originTookBody(count) }

    func bodyBeginsAgain() { self.delegate?.bodyBeginsAgain() }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        let delegate = self.delegate
        self.delegate = nil
        // The client has left.
        guard let delegate else { return handoff.connection.close() }
        guard let answer, let head = handoff.head else { return delegate.originHandedOver(handoff, metrics) }
        guard head.switchesToWebSocket else {
            handoff.connection.close()
            (self.delegate, self.end) = (delegate, (metrics, nil))
            return self.refuse(
                Problem(
                    .upstreamProtocol,
                    "the origin of a request with a credential switches to a protocol that cannot be searched for it"))
        }
        var handoff = handoff
        (handoff.head, handoff.filter) = (answer.masked(head), MessageMask { self.release.echoMask })
        delegate.originHandedOver(handoff, metrics)
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        guard self.answer != nil, error == nil else { return self.finish(error, metrics) }
        self.end = (metrics, self.trailers)
        self.move()
    }
}

extension CredentialOrigin: OriginStream {
    var verdict: Verdict? { self.stream?.verdict }
    var proxyVerdict: Verdict? { self.stream?.proxyVerdict }
    var responseVersion: String { self.stream?.responseVersion ?? "" }
    var metrics: TransferMetrics { self.end?.metrics ?? self.stream?.metrics ?? TransferMetrics() }
    var clientFault: ClientFault? { self.fault ?? self.stream?.clientFault }
    var unsentBodyBytes: Int { (self.stream?.unsentBodyBytes ?? 0) + self.filler.waitingBytes }
    var heldBodyBytes: Int { (self.stream?.heldBodyBytes ?? 0) + (self.answer?.heldBytes ?? 0) }

    func send(_ bytes: ByteBuffer) {
        do throws(Problem) {
            let filled = try self.filler.take(bytes)
            if filled.readableBytes > 0 { self.live?.send(filled) }
        } catch {
            self.refuse(error)
        }
    }

    func finishBody(trailers: Fields) {
        let rest = self.filler.finish()
        if rest.readableBytes > 0 { self.live?.send(rest) }
        self.live?.finishBody(trailers: trailers)
    }

    // Pipes would move the bytes past the mask.
    func takePipes() { if self.answer == nil { self.live?.takePipes() } }

    func pauseReading() {
        self.hasRoom = false
        if self.end == nil { self.live?.pauseReading() }
    }

    func resumeReading() {
        self.hasRoom = true
        self.move()
        if self.answer == nil { self.live?.resumeReading() }
    }

    func cancel() {
        // After its end there is no request to cancel.
        guard let live else { return }
        self.delegate = nil
        if self.end == nil { live.cancel() }
    }
}
