// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem
internal import PintleTape
internal import PintleTrust

/// An origin whose place a recording takes. The request is collected, as far as its recording depends on its body; then the recording
/// is looked for on another thread, and answers. A request without one is refused, without a connection or a look-up, or goes
/// on to the origin. Used on its event loop's thread only.
final class RecordedOrigin {
    private enum State {
        /// The body of the request is on its way, or the recording is looked for.
        case waiting
        /// The recording answers, or the origin.
        case open(any OriginStream)
        case over
    }

    private let tape: RouteTape
    private let loop: Loop
    private let request: TapedRequest
    /// For the recording of an answer that was missing.
    private let memory: RecordingMemory
    private let connect: RouteTape.Connect
    private var delegate: (any TransferDelegate)?
    private var state = State.waiting
    /// The body of the request, which an origin may need; nil once it has been passed on, or is not needed.
    private var body: [ByteBuffer]? = []
    private var bodyCount = 0
    /// The trailers of the body, once it has ended.
    private var bodyEnd: Fields?
    private var isSearching = false
    private var hasToldToContinue = false
    private var hasRoom = true
    /// The stream that answers. Its verdicts are asked for after its end, too.
    private var stream: (any OriginStream)?
    /// The recording that answers.
    private var recording: Recording?
    private var missing: Problem?

    init(
        _ request: TapedRequest, from tape: RouteTape, for delegate: any TransferDelegate, on loop: Loop,
        in memory: RecordingMemory, _ connect: @escaping RouteTape.Connect
    ) {
        (self.request, self.tape, self.delegate, self.loop) = (request, tape, delegate, loop)
        (self.memory, self.connect) = (memory, connect)
        guard case .stream = request.transfer.body, !tape.ignoresBodies else {
            self.search()
            return
        }
        // The client sends its body only when it is told to (RFC 9110 §10.1.1).
        guard request.transfer.fields.hasToken("100-continue", in: .expect) else { return }
        self.hasToldToContinue = true
        LoopBound(self, loop: loop).run {
            if case .waiting = $0.state {
                $0.delegate?.originSent(interim: ResponseHead(status: 100, reason: "Continue"))
            }
        }
    }

    // MARK: The search

    private func search() {
        self.isSearching = true
        var request = TapeRequest(
            method: self.request.transfer.method, url: self.request.url, fields: self.request.transfer.fields)
        var gap: String?
        if case .bytes(let bytes) = self.request.transfer.body { request.body = Array(bytes.readableBytesView) }
        for piece in self.body ?? [] { request.body.append(contentsOf: piece.readableBytesView) }
        if request.body.count > self.tape.limit { gap = ContentUnpacking.tooLong(self.tape.limit) }
        let (tape, box, asked, missing) = (self.tape, LoopBound(self, loop: self.loop), request, gap)
        do throws(SystemError) {
            try ThreadPool.shared.run {
                let found = tape.find(asked, gap: missing)
                box.run { $0.found(found) }
            }
        } catch {
            let reason = "the system has no thread to look for the recording: \(error)"
            box.run { $0.refuse(reason) }
        }
    }

    private func found(_ result: Result<Recording, TapeMiss>) {
        // The client has left in the meantime.
        guard case .waiting = self.state else { return }
        switch result {
        case .success(let recording): self.play(recording)
        case .failure(let miss): self.miss(miss)
        }
    }

    private func miss(_ miss: TapeMiss) {
        switch self.tape.rules.miss {
        case .fail: self.refuse(miss.description)
        case .forward: self.forward { self.connect(self.request.transfer, $0) }
        case .record:
            self.forward {
                RecordingOrigin(self.request, on: self.tape, for: $0, on: self.loop, in: self.memory, self.connect)
            }
        }
    }

    private func refuse(_ reason: String) {
        // The client has left in the meantime.
        guard case .waiting = self.state else { return }
        let problem = Problem(
            .recordingMissing,
            "\(reason); nothing was sent to the origin. Record it (mode: record, or miss: record), or let it pass (miss: forward)"
        )
        self.missing = problem
        self.end(SessionError(.cacheMiss, problem.detail), TransferMetrics())
    }

    private func forward(_ open: (any TransferDelegate) -> any OriginStream) {
        let stream = open(self)
        (self.stream, self.state) = (stream, .open(stream))
        if !self.hasRoom { stream.pauseReading() }
        for piece in self.body ?? [] { stream.send(piece) }
        self.body = nil
        if let bodyEnd, case .stream = self.request.transfer.body { stream.finishBody(trailers: bodyEnd) }
    }

    private func play(_ recording: Recording) {
        self.recording = recording
        // An origin would have taken it.
        self.body = nil
        var transfer = self.request.transfer
        transfer.body = .none
        let answer = LocalAnswer(as: .recording, to: transfer, for: self, on: self.loop) { [self] answer in
            self.answer(recording, by: answer)
        }
        (self.stream, self.state) = (answer, .open(answer))
        if !self.hasRoom { answer.pauseReading() }
        // The rest of the body, which waited for the search, is dropped.
        self.delegate?.originTookBody(0)
    }

    private func answer(_ recording: Recording, by answer: LocalAnswer) {
        var head = recording.response.head
        if self.tape.rules.refreshes {
            let now = Timestamp.now().milliseconds
            head.fields = head.fields.refreshed(by: (now - recording.time.milliseconds) / 1000)
        }
        if let messages = recording.response.messages,
            let problem = RecordedSocket.begin(
                self.request, head, messages, at: self.tape.rules.timing, by: answer)
        {
            self.missing = problem
            return self.end(SessionError(.cacheMiss, problem.detail), TransferMetrics())
        }
        // The socket plays on its own.
        guard recording.response.messages == nil else { return }
        let body = RecordedBody(recording, at: self.tape.rules.timing, on: self.loop)
        let hasLength = recording.response.pieces.isEmpty && recording.response.trailers.isEmpty
        body.begin(by: answer, head, length: hasLength ? UInt64(recording.response.body.count) : nil)
    }

    private func end(_ error: SessionError?, _ metrics: TransferMetrics) {
        let delegate = self.delegate
        (self.state, self.delegate, self.body) = (.over, nil, nil)
        if error == nil, let trailers = self.recording?.response.trailers, !trailers.isEmpty {
            delegate?.originSent(trailers: trailers)
        }
        delegate?.originEnded(error, metrics)
    }

    /// True if the recording answers.
    private var isPlayed: Bool { self.recording != nil }
}

extension RecordedOrigin: OriginStream {
    var simulation: Simulation? { self.isPlayed ? .recording : nil }
    var clientFault: ClientFault? { self.missing.map { .refusal($0) } }
    var messageKeeper: (any MessageKeeper)? { self.stream?.messageKeeper }
    var verdict: Verdict? { self.stream?.verdict }
    var proxyVerdict: Verdict? { self.stream?.proxyVerdict }
    var responseVersion: String { self.recording?.response.version ?? self.stream?.responseVersion ?? "1.1" }
    var metrics: TransferMetrics { self.stream?.metrics ?? TransferMetrics() }

    var unsentBodyBytes: Int {
        switch self.state {
        case .open(let stream): stream.unsentBodyBytes
        // The client waits until the search says where the rest of the body goes.
        case .waiting where self.isSearching: self.bodyCount
        case .waiting, .over: 0
        }
    }

    var heldBodyBytes: Int {
        if case .open(let stream) = self.state { return stream.heldBodyBytes }
        return self.bodyCount
    }

    func send(_ bytes: ByteBuffer) {
        switch self.state {
        case .waiting:
            // A body that is too long for a recording is kept only for an origin, which may get it after the search.
            if self.keepsBody { self.body?.append(bytes) }
            self.bodyCount += bytes.readableBytes
            self.delegate?.originTookBody(bytes.readableBytes)
            if self.bodyCount > self.tape.limit, !self.isSearching { self.search() }
        case .open(let stream): stream.send(bytes)
        case .over: break
        }
    }

    /// True if the search, or an origin, may need the body.
    private var keepsBody: Bool { !self.tape.ignoresBodies || self.tape.rules.miss != .fail }

    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        if case .open(let stream) = self.state { return stream.moveBody(from: descriptor, atMost: limit) }
        return .isUnfit
    }

    func finishBody(trailers: Fields) {
        switch self.state {
        case .waiting:
            self.bodyEnd = trailers
            if !self.isSearching { self.search() }
        case .open(let stream): stream.finishBody(trailers: trailers)
        case .over: break
        }
    }

    func pauseReading() {
        self.hasRoom = false
        if case .open(let stream) = self.state { stream.pauseReading() }
    }

    func resumeReading() {
        self.hasRoom = true
        if case .open(let stream) = self.state { stream.resumeReading() }
    }

    func takePipes() { if case .open(let stream) = self.state { stream.takePipes() } }

    func cancel() {
        let stream: (any OriginStream)? = if case .open(let stream) = self.state { stream } else { nil }
        (self.state, self.delegate, self.body) = (.over, nil, nil)
        stream?.cancel()
    }
}

extension RecordedOrigin: TransferDelegate {
    func originSent(interim head: ResponseHead) {
        // The client was told already.
        if head.status == 100, self.hasToldToContinue { return }
        self.delegate?.originSent(interim: head)
    }

    func originAnswered(_ head: ResponseHead, length: UInt64?) { self.delegate?.originAnswered(head, length: length) }

    func originSent(_ bytes: UnsafeRawBufferPointer) { self.delegate?.originSent(bytes) }

    func originSent(_ buffer: ByteBuffer) { self.delegate?.originSent(buffer) }

    func originSent(_ piped: PipedBytes) { self.delegate?.originSent(piped) }

    func originSent(trailers fields: Fields) { self.delegate?.originSent(trailers: fields) }

    func originTookBody(_ count: Int) { self.delegate?.originTookBody(count) }

    func bodyBeginsAgain() { self.delegate?.bodyBeginsAgain() }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        let delegate = self.delegate
        (self.state, self.delegate) = (.over, nil)
        if let delegate { delegate.originHandedOver(handoff, metrics) } else { handoff.connection.close() }
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) { self.end(error, metrics) }
}
