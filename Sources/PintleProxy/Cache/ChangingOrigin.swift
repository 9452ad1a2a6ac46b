// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// An origin that is asked to change something. Its success removes the responses that the request has made invalid (RFC 9111 §4.4),
/// and reaches the client when the disk has removed them, too: from then on none of them answers, even if the process is killed.
///
/// Requests with unsafe methods pass it whatever their route does, because other routes may keep responses of the URL. Used on its
/// event loop's thread only.
final class ChangingOrigin {
    private typealias Event = (any TransferDelegate) -> Void

    private let key: CacheKey
    private let request: RequestHead
    private let cache: SharedCache
    private let loop: Loop
    private var stream: (any OriginStream)?
    /// Nil once nothing more is told.
    private var delegate: (any TransferDelegate)?
    /// The events that wait until the disk has removed the responses; nil if they are told at once.
    private var waiting: [Event]?
    /// True if the delegate has paused the response.
    private var isPaused = false
    /// True if the origin has made its last call.
    private var hasEnded = false

    init(
        _ request: consuming TransferRequest, _ key: CacheKey, _ cache: SharedCache,
        for delegate: any TransferDelegate, on loop: Loop,
        _ connect: (consuming TransferRequest, any TransferDelegate) -> any OriginStream
    ) {
        (self.key, self.cache, self.delegate, self.loop) = (key, cache, delegate, loop)
        self.request = RequestHead(method: request.method, target: .origin(path: request.path))
        self.stream = connect(consume request, self)
    }

    /// The key of a request that may change something; its partition does not matter.
    ///
    /// - Returns: nil for a request with a safe method, for a tunnel, and if the target cannot be a key.
    static func key(of request: TransferRequest) -> CacheKey? {
        if request.connectOnly || request.method == "CONNECT" || RequestHead.isSafe(request.method) { return nil }
        return CacheKey(
            partition: "", scheme: request.scheme, authority: request.authority, path: request.path)
    }

    /// The stream until its end.
    private var live: (any OriginStream)? { self.hasEnded || self.delegate == nil ? nil : self.stream }

    // MARK: The wait

    private func remove(_ urls: [String]) {
        // Responses in memory are gone at once.
        guard self.cache.removesFromTier else { return self.cache.invalidate(urls) }
        self.waiting = []
        self.stream?.pauseReading()
        let box = LoopBound(self, loop: self.loop)
        self.cache.invalidate(urls) { box.run { $0.goOn() } }
    }

    /// Tells the delegate what has waited. It may pause or leave within each call.
    private func goOn() {
        while let delegate, let event = self.waiting?.first {
            self.waiting?.removeFirst()
            event(delegate)
        }
        self.waiting = nil
        if !self.isPaused { self.live?.resumeReading() }
    }

    private func tell(_ event: @escaping Event) {
        if self.waiting != nil {
            self.waiting?.append(event)
        } else if let delegate {
            event(delegate)
        }
    }

    private func tellLast(_ event: @escaping Event) {
        self.hasEnded = true
        self.tell { delegate in
            self.delegate = nil
            event(delegate)
        }
    }
}

extension ChangingOrigin: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.tell { $0.originSent(interim: head) } }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        let urls = ProxyCacheHost.rules.invalidated(by: self.request, key: self.key, response: head)
        if !urls.isEmpty { self.remove(urls) }
        self.tell { $0.originAnswered(head, length: length) }
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        if self.waiting == nil { return self.delegate?.originSent(bytes) ?? () }
        let buffer = ByteBuffer(bytes: bytes)
        self.tell { $0.originSent(buffer) }
    }

    func originSent(_ buffer: ByteBuffer) { self.tell { $0.originSent(buffer) } }

    // During the wait the stream is paused: the bytes stay in the pipe, and come again.
    func originSent(_ piped: PipedBytes) { if self.waiting == nil { self.delegate?.originSent(piped) } }

    func originSent(trailers fields: Fields) { self.tell { $0.originSent(trailers: fields) } }

    func originTookBody(_ count: Int) { self.tell { $0.originTookBody(count) } }

    func bodyBeginsAgain() { self.tell { $0.bodyBeginsAgain() } }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        // The client has left.
        guard self.delegate != nil else { return handoff.connection.close() }
        self.tellLast { $0.originHandedOver(handoff, metrics) }
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.tellLast { $0.originEnded(error, metrics) }
    }
}

extension ChangingOrigin: OriginStream {
    var verdict: Verdict? { self.stream?.verdict }
    var proxyVerdict: Verdict? { self.stream?.proxyVerdict }
    var responseVersion: String { self.stream?.responseVersion ?? "" }
    var metrics: TransferMetrics { self.stream?.metrics ?? TransferMetrics() }
    var clientFault: ClientFault? { self.stream?.clientFault }
    var unsentBodyBytes: Int { self.stream?.unsentBodyBytes ?? 0 }
    var heldBodyBytes: Int { self.stream?.heldBodyBytes ?? 0 }

    func send(_ bytes: ByteBuffer) { self.live?.send(bytes) }

    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        self.live?.moveBody(from: descriptor, atMost: limit) ?? .isUnfit
    }

    func finishBody(trailers: Fields) { self.live?.finishBody(trailers: trailers) }

    func takePipes() { self.live?.takePipes() }

    func pauseReading() {
        self.isPaused = true
        if self.waiting == nil { self.live?.pauseReading() }
    }

    func resumeReading() {
        self.isPaused = false
        if self.waiting == nil { self.live?.resumeReading() }
    }

    func cancel() {
        let live = self.live
        (self.delegate, self.waiting) = (nil, nil)
        live?.cancel()
    }
}
