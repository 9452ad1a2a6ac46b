// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import PintleMessage

@testable import PintleSession

/// A request of the session, its client, and the parts that the origin has seen.
final class ModelAsk {
    /// The most bytes of a streamed body that can be sent again for certain.
    private static let mostKept = 64 * 1024
    /// The most connections that may turn a request away.
    private static let mostTurnedAway = 16

    let token: Int
    let request: OriginCourse.Request
    /// The body.
    let content: ArraySlice<UInt8>
    private let record: OriginRecord
    private let fields: [(name: String, value: String)]
    private var transfer: Transfer?
    private(set) var attempts: [ModelAttempt] = []
    // The request's body.
    private(set) var given = 0
    private(set) var hasEndedBody = true
    private(set) var hasTrailers = false
    // The answer, as far as it has come.
    private var interims = 0
    private var status: UInt16?
    private var received = 0
    private var trailers = false
    private(set) var isPaused = false
    // The end.
    private(set) var isOver = false
    private(set) var wasCancelled = false
    private(set) var error: SessionError?
    /// True if it may fail though its answer is complete: it was not taken before the connection broke.
    var mayFail = false

    init(_ token: Int, _ request: OriginCourse.Request, _ record: OriginRecord) {
        (self.token, self.request, self.record) = (token, request, record)
        self.content = ModelBytes.of(token + 1000, count: request.size)
        self.fields = ModelHeads.fields(request.fields)
        if request.body == .whole { self.given = request.size }
        self.hasEndedBody = request.body == .none || request.body == .whole
    }

    private var isIdempotent: Bool { RequestHead.isIdempotent(self.request.method) }

    private var isStreamed: Bool { self.request.body == .measured || self.request.body == .unmeasured }

    private var isRewindable: Bool { !self.isStreamed || self.given <= Self.mostKept }

    // MARK: Actions of the client

    func begin(in pool: TransferPool, port: Int) {
        var fields = Fields()
        fields.append("X-Token", "\(self.token)")
        for (name, value) in self.fields { fields.append(name, value) }
        if self.request.expects { fields.append("Expect", "100-continue") }
        var request = TransferRequest(
            method: self.request.method, scheme: .http, authority: Authority(host: "127.0.0.1", port: UInt16(port)),
            path: "/\(self.token)", fields: fields, connectTimeout: .hours(1), timeout: .hours(1))
        switch self.request.body {
        case .none: break
        case .whole: request.body = .bytes(ByteBuffer(bytes: self.content))
        case .measured: request.body = .stream(length: UInt64(self.content.count))
        case .unmeasured: request.body = .stream(length: nil)
        }
        request.isRepeatable = self.isIdempotent
        let transfer = pool.start(request, delegate: self)
        if !self.isOver { self.transfer = transfer }
    }

    func play(giving count: Int) {
        guard self.isStreamed, !self.isOver, !self.hasEndedBody else { return }
        let count = min(count, self.content.count - self.given)
        guard count > 0 else { return }
        let bytes = self.content.dropFirst(self.given).prefix(count)
        self.given += count
        self.transfer?.send(ByteBuffer(bytes: bytes))
    }

    func playEndOfBody(trailers: Bool = false) {
        guard self.isStreamed, !self.isOver, !self.hasEndedBody else { return }
        self.play(giving: .max)
        (self.hasEndedBody, self.hasTrailers) = (true, trailers)
        // A request may end when it is given something.
        self.transfer?.finishBody(trailers: trailers ? ["X-Sum": "\(self.token)"] : [:])
    }

    func play(isPaused: Bool) {
        guard !self.isOver else { return }
        self.isPaused = isPaused
        if isPaused { self.transfer?.pauseReading() } else { self.transfer?.resumeReading() }
    }

    func cancel() {
        guard !self.isOver else { return }
        (self.isOver, self.wasCancelled) = (true, true)
        self.transfer?.cancel()
        self.transfer = nil
    }

    // MARK: Observations of the origin

    func check(_ headers: HPACKHeaders) {
        var expected = [
            (":method", self.request.method), (":path", "/\(self.token)"),
        ]
        if self.request.body == .whole || self.request.body == .measured {
            expected.append(("content-length", "\(self.content.count)"))
        }
        for (name, value) in expected where headers[name] != [value] {
            self.breach("has \(headers[name]) as its \(name) in place of \(value)")
        }
        if self.request.body == .none || self.request.body == .unmeasured, headers.contains(name: "content-length") {
            self.breach("has a length that nobody gave")
        }
        for (name, value) in self.fields where headers[name] != [value] { self.breach("lacks its \(name)") }
    }

    /// An attempt reaches the origin.
    func begins(_ attempt: ModelAttempt) {
        defer { self.attempts.append(attempt) }
        if self.isOver, !self.wasCancelled { self.breach("is sent though it is over") }
        guard let last = self.attempts.last else { return }
        switch last.fate {
        case .unseen:
            if self.attempts.count(where: { $0.fate == .unseen }) > Self.mostTurnedAway {
                self.breach("is sent again without an end")
            }
        case .refused, .lost:
            if self.resends > 1 { self.breach("is sent again more than once") }
            if last.fate == .lost, !self.isIdempotent {
                self.breach("is sent again though the origin may have seen it")
            }
            if last.fate == .lost, !last.peer.hasServed {
                self.breach("is sent again though its connection had served nothing")
            }
        case .open, .complete, .fails: self.breach("is sent again: \(last.fate)")
        }
    }

    /// The attempts that may have been, or have been, followed by another one on account of this side's choice.
    private var resends: Int { self.attempts.count { $0.fate == .refused || $0.fate == .lost } }

    // MARK: Checks

    /// Looks whether everything that was to come of the events so far has come.
    func settled() {
        if self.isOver {
            for attempt in self.attempts where !attempt.isClosed && attempt.peer.maySend {
                self.breach("is over, and its stream \(attempt.number) stays open")
            }
            return
        }
        guard !self.isPaused else { return }
        guard let attempt = self.attempts.last, attempt.fate == .open else {
            // Nothing leaves over a connection that has no stream for it.
            guard self.record.peers.allSatisfy({ $0.isOver || !$0.isFull }) else { return }
            return self.breach("has no outcome: \(self.attempts.last.map { "\($0.fate)" } ?? "no stream")")
        }
        if self.interims != attempt.interims.count { self.breach("has \(self.interims) of \(attempt.interims)") }
        if attempt.head != nil, self.status == nil { self.breach("has no head") }
        if self.received != attempt.sent { self.breach("has \(self.received) bytes of \(attempt.sent)") }
        if attempt.peer.hasRoom(for: attempt), !self.request.expects {
            if attempt.requestBytes != self.given {
                self.breach("has given \(self.given) bytes, of which \(attempt.requestBytes) come")
            }
            if self.hasEndedBody, !attempt.requestEnded { self.breach("does not end") }
        }
    }

    private func breach(_ sentence: String) { self.record.breach("request \(self.token) \(sentence)") }

    private func checkFailure(_ error: SessionError) {
        let known: [SessionError.Code] = [.connectionBroken, .truncated, .malformedResponse, .cannotRewind]
        if !known.contains(error.code) { self.breach("fails strangely: \(error)") }
        guard !self.mayFail else { return }
        guard let attempt = self.attempts.last else {
            let mayBeLost = self.record.hasEndedUntold || self.record.hasEndedConnection && !self.isRewindable
            if !mayBeLost { self.breach("fails before it was sent: \(error)") }
            return
        }
        let isRight =
            switch attempt.fate {
            case .open, .complete: false
            case .fails: true
            case .unseen:
                self.attempts.count { $0.fate == .unseen } > Self.mostTurnedAway || !self.isRewindable
                    || self.record.hasEndedUntold
            // Sent again, it may be on a connection that ends before its stream begins.
            case .refused: self.resends > 1 || !self.isRewindable || self.record.hasEndedUntold
            case .lost:
                self.resends > 1 || !self.isRewindable || !self.isIdempotent || !attempt.peer.hasServed
                    || self.record.hasEndedUntold
            }
        if !isRight { self.breach("fails though it need not: \(attempt.fate), \(error)") }
    }
}

extension ModelAsk: TransferDelegate {
    private var current: ModelAttempt? {
        if self.isOver { self.breach("is told more behind its end") }
        return self.attempts.last
    }

    func originSent(interim head: ResponseHead) {
        guard let attempt = self.current, attempt.interims.count > self.interims else {
            return self.breach("gets an interim head that was not sent")
        }
        if Int(head.status) != attempt.interims[self.interims] { self.breach("gets \(head.status)") }
        self.interims += 1
    }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        guard self.status == nil else { return self.breach("gets two heads") }
        self.status = head.status
        guard let attempt = self.current, let sent = attempt.head else {
            return self.breach("gets a head that was not sent")
        }
        if head.fields.values(of: "X-Answer") != ["\(attempt.serial)"] || Int(head.status) != sent.status {
            self.breach("gets another answer than the one to it")
        }
        var pads = 0
        for name in (0..<20).map({ "x-pad-\($0)" }) {
            for value in head.fields.values(of: name) { pads += name.utf8.count + value.utf8.count + 4 }
        }
        if sent.fields >= 200, sent.fields - pads > 64 {
            self.breach("gets \(pads) bytes of fields for \(sent.fields)")
        }
        if !sent.endsStream, length.map({ Int($0) }) != attempt.length {
            self.breach("gets length \(String(describing: length)) for \(String(describing: attempt.length))")
        }
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        guard self.status != nil else { return self.breach("gets bytes before a head") }
        guard let attempt = self.current, self.received + bytes.count <= attempt.sent else {
            return self.breach("gets more bytes than were sent")
        }
        if !attempt.content.dropFirst(self.received).prefix(bytes.count).elementsEqual(bytes) {
            self.breach("gets other bytes than were sent")
        }
        self.received += bytes.count
    }

    func originSent(trailers fields: Fields) {
        self.trailers = true
        if fields.values(of: "X-Trailer") != [self.current.map { "\($0.serial)" } ?? ""] {
            self.breach("gets other trailers than were sent")
        }
    }

    func originTookBody(_ count: Int) {}

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        guard !self.isOver else { return self.breach("ends twice") }
        (self.isOver, self.error, self.transfer) = (true, error, nil)
        if self.record.isClosing {
            if error?.code != .cancelled { self.breach("is not cancelled with its session") }
            return
        }
        if let error {
            self.checkFailure(error)
        } else if let attempt = self.attempts.last {
            attempt.peer.hasServed = true
            if attempt.fate != .complete { self.breach("is complete: \(attempt.fate)") }
            if self.status == nil { self.breach("is complete without a head") }
            if self.received != attempt.size {
                self.breach("is complete with \(self.received) of \(attempt.size) bytes")
            }
            if self.interims != attempt.interims.count { self.breach("lacks interim heads") }
            if self.trailers != attempt.trailers { self.breach("has trailers: \(self.trailers)") }
        } else {
            self.breach("is complete, and no origin has seen it")
        }
        if self.request.isFollowed { self.record.ask(.init(method: "GET")) }
    }
}
