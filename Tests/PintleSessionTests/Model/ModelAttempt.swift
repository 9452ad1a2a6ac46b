// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import PintleTesting

/// A stream from the origin's point of view: one attempt of a request.
final class ModelAttempt {
    /// The meaning of the origin's frames, or of their end, for the request.
    enum Fate: Equatable {
        /// An answer may still come.
        case open
        /// The answer is complete.
        case complete
        /// The origin has not looked at it (RFC 9113 §6.8).
        case unseen
        /// The origin has not looked at it (RFC 9113 §8.7).
        case refused
        /// The connection has ended without a word.
        case lost
        /// The request fails, and is not made again.
        case fails(String)
    }

    let number: Int
    /// Tells its answer from others.
    let serial: Int
    let ask: ModelAsk
    unowned let peer: ModelPeer
    private(set) var fate = Fate.open
    // The request.
    private(set) var requestBytes = 0
    private(set) var requestEnded = false
    private(set) var clientReset: Int?
    /// The bytes of a body that the client may send.
    var receiveWindow: Int
    // The answer.
    var sendWindow: Int
    private(set) var interims: [Int] = []
    private(set) var head: OriginCourse.Head?
    private(set) var length: Int?
    private(set) var sent = 0
    private(set) var trailers = false
    private(set) var answerEnded = false {
        didSet { self.isClosedByAnswer = self.answerEnded && self.requestEnded }
    }
    /// True if the end of the answer was that of the stream: the request had come as a whole before.
    private var isClosedByAnswer = false
    private(set) var hasReset = false
    /// True if the origin has broken HTTP/2 on the stream; it then sends no more.
    private(set) var hasErred = false
    /// True if the origin has said that it takes no stream of that number.
    private var isAboveLast = false
    private var released = 0
    private var (piece, padding) = (16_384, 0)
    private var (ends, endsWithTrailers, endsWithReset) = (false, false, false)

    init(_ number: Int, serial: Int, of ask: ModelAsk, on peer: ModelPeer) {
        (self.number, self.serial, self.ask, self.peer) = (number, serial, ask, peer)
        (self.receiveWindow, self.sendWindow) = (peer.receiveInitial, peer.sendInitial)
    }

    /// True if neither side may send anything more.
    var isClosed: Bool {
        self.hasReset || self.clientReset != nil || self.requestEnded && self.answerEnded || self.isAboveLast
            || self.peer.isOver
    }

    private var hasAnswer: Bool { self.head != nil || !self.interims.isEmpty }

    var content: ArraySlice<UInt8> { ModelBytes.of(self.serial, count: self.head?.size ?? 0) }

    private var hasNoBody: Bool {
        guard let head else { return true }
        return self.ask.request.method == "HEAD" || head.status == 204 || head.status == 304
    }

    /// The bytes that come of its answer.
    var size: Int { self.hasNoBody ? 0 : self.head?.size ?? 0 }

    // MARK: Frames of the client

    /// False once the stream is over: frames that cross its end prove nothing.
    var mayTake: Bool { (self.fate == .open || self.fate == .complete) && !self.hasReset }

    func took(_ bytes: ArraySlice<UInt8>) {
        guard !self.requestEnded else { return self.breach("has DATA behind its end") }
        self.requestBytes += bytes.count
        guard self.requestBytes <= self.ask.given else { return self.breach("has bytes that were not given") }
        let end = self.requestBytes
        if !bytes.elementsEqual(self.ask.content.dropFirst(end - bytes.count).prefix(bytes.count)) {
            self.breach("has other bytes than the body")
        }
    }

    func tookEnd(trailers: [(String, String)] = []) {
        guard !self.requestEnded else { return self.breach("ends twice") }
        self.requestEnded = true
        guard self.ask.hasEndedBody, self.requestBytes == self.ask.content.count else {
            return self.breach("ends with \(self.requestBytes) bytes of \(self.ask.content.count)")
        }
        if trailers.isEmpty == self.ask.hasTrailers { self.breach("has other trailers than were given") }
    }

    /// Notes the end of a request whose stream has failed: the stream ends by it, and nothing else of it counts.
    func tookUselessEnd() { self.requestEnded = true }

    func tookReset(_ code: Int) {
        if self.isClosedByAnswer, !self.ask.wasCancelled, self.ask.error == nil {
            self.breach("is reset though it is complete both ways")
        }
        self.clientReset = code
        if self.fate == .open, !self.ask.isOver { self.breach("is reset by the session: \(code)") }
    }

    // MARK: Actions of the origin

    private var maySend: Bool { !self.isClosed && !self.answerEnded && !self.hasErred && self.peer.maySend }

    func playInterim(_ status: Int) {
        guard self.maySend, self.head == nil, !self.ends else { return }
        self.interims.append(status)
        self.peer.send(self.section([(":status", "\(status)"), ("x-interim", "\(self.serial)")], endsStream: false))
    }

    func play(_ head: OriginCourse.Head) {
        guard self.maySend, self.head == nil else { return }
        self.head = head
        var fields: [(name: String, value: String)] = [("x-answer", "\(self.serial)")]
        if head.length != .none, !self.hasNoBody || self.ask.request.method == "HEAD" {
            let size = head.size + (head.length == .tooShort ? 1 : head.length == .tooLong ? -1 : 0)
            if size >= 0 {
                fields.append(("content-length", "\(size)"))
                if !self.hasNoBody { self.length = size }
            }
        }
        let least = Self.size(of: fields) + 64
        if head.fields >= least { fields += ModelHeads.fields(head.fields - Self.size(of: fields)) }
        if Self.size(of: fields) > ModelHeads.most { self.decide(.fails("its head is over the limit")) }
        self.answerEnded = head.endsStream
        if head.endsStream { self.decideAtEnd() }
        self.peer.send(
            self.section([(":status", "\(head.status)")] + fields, endsStream: head.endsStream, as: head))
    }

    private static func size(of fields: [(name: String, value: String)]) -> Int {
        fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    /// The frames of a header section.
    private func section(
        _ fields: [(name: String, value: String)], endsStream: Bool, as form: OriginCourse.Head = .init()
    ) -> [UInt8] {
        var block = form.isIndexed ? self.peer.encode(fields) : HTTP2Bytes.block(fields)
        var frames: [UInt8] = []
        var (isFirst, number) = (true, 0)
        repeat {
            var (prefix, suffix, flags) = ([UInt8](), [UInt8](), UInt8(0))
            if isFirst {
                if endsStream { flags |= HTTP2Bytes.Flag.endStream }
                if form.isPadded { (prefix, suffix) = ([7], [UInt8](repeating: 0, count: 7)) }
                if form.isPadded { flags |= HTTP2Bytes.Flag.padded }
                if form.hasPriority { (prefix, flags) = (prefix + [0, 0, 0, 0, 9], flags | HTTP2Bytes.Flag.priority) }
            }
            let room = form.cut > 0 && number < 2 ? min(form.cut, 16_360) : 16_360
            let piece = block.prefix(room)
            block.removeFirst(piece.count)
            if block.isEmpty { flags |= HTTP2Bytes.Flag.endHeaders }
            frames += HTTP2Bytes.frame(
                isFirst ? HTTP2Bytes.Kind.headers : HTTP2Bytes.Kind.continuation, flags, on: self.number,
                prefix + piece + suffix)
            (isFirst, number) = (false, number + 1)
        } while !block.isEmpty
        return frames
    }

    func playSending(_ count: Int, piece: Int, padding: Int) {
        guard self.maySend, self.head != nil else { return }
        (self.piece, self.padding) = (piece, padding)
        self.released = min(self.released + count, self.size)
        self.goOn()
    }

    func playEnd(trailers: Bool, resets: Bool) {
        guard self.maySend else { return }
        if self.head == nil { self.play(.init(size: 3)) }
        (self.released, self.ends) = (self.size, true)
        self.endsWithTrailers = trailers && !self.hasNoBody
        self.endsWithReset = resets && !self.requestEnded
        self.goOn()
    }

    /// Sends an empty DATA frame.
    func playEmptyData() {
        guard self.maySend, self.head != nil, !self.hasNoBody else { return }
        self.peer.send(HTTP2Bytes.frame(HTTP2Bytes.Kind.data, on: self.number))
    }

    /// Sends the frames that may be sent.
    func goOn() {
        guard self.maySend, self.head != nil else { return }
        while self.sent < self.released {
            let cost = self.padding > 0 ? self.padding + 1 : 0
            let room = min(self.sendWindow, self.peer.sendWindow) - cost
            let count = min(self.released - self.sent, room, self.piece, 16_384 - cost)
            guard count > 0 else { return }
            let isLast = self.ends && !self.endsWithTrailers && self.sent + count == self.size
            var (prefix, flags) = ([UInt8](), isLast ? HTTP2Bytes.Flag.endStream : 0)
            if cost > 0 { (prefix, flags) = ([UInt8(self.padding)], flags | HTTP2Bytes.Flag.padded) }
            self.peer.send(
                HTTP2Bytes.frame(
                    HTTP2Bytes.Kind.data, flags, on: self.number,
                    prefix + self.content.dropFirst(self.sent).prefix(count)
                        + [UInt8](repeating: 0, count: self.padding)))
            self.sent += count
            self.sendWindow -= count + cost
            self.peer.sendWindow -= count + cost
            if let length, self.sent > length { self.decide(.fails("it is longer than its length")) }
            if isLast { self.answerEnded = true }
        }
        guard self.ends else { return }
        if !self.answerEnded {
            self.trailers = self.endsWithTrailers
            self.peer.send(
                self.endsWithTrailers
                    ? self.section([("x-trailer", "\(self.serial)")], endsStream: true)
                    : HTTP2Bytes.frame(HTTP2Bytes.Kind.data, HTTP2Bytes.Flag.endStream, on: self.number))
            self.answerEnded = true
        }
        self.decideAtEnd()
        guard self.endsWithReset, !self.requestEnded else { return }
        self.hasReset = true
        self.peer.send(HTTP2Bytes.reset(0, on: self.number))
    }

    private func decideAtEnd() {
        if let length, self.sent != length { return self.decide(.fails("it is shorter than its length")) }
        self.decide(.complete)
    }

    func playReset(_ code: Int) {
        guard !self.isClosed, self.peer.maySend else { return }
        self.hasReset = true
        let isRefused = code == HTTP2Bytes.Code.refusedStream.rawValue
        self.decide(isRefused && !self.hasAnswer ? .refused : .fails("it is reset"))
        self.peer.send(HTTP2Bytes.reset(code, on: self.number))
    }

    /// Breaks HTTP/2, so that the stream must end.
    func play(_ misdeed: OriginCourse.Misdeed) {
        guard !self.isClosed, !self.hasErred, self.peer.maySend else { return }
        let isFirst = self.maySend && self.head == nil && !self.ends
        let bytes: [UInt8]?
        switch misdeed {
        // The window of a request that has left as a whole is of no use, and not looked at.
        case .noWindow where self.requestEnded, .overflow where self.requestEnded: return
        case .noWindow: bytes = HTTP2Bytes.windowUpdate(0, on: self.number)
        case .overflow:
            // The window may be empty before.
            self.receiveWindow += 2 * 0x7FFF_FFFF
            let half = HTTP2Bytes.windowUpdate(0x7FFF_FFFF, on: self.number)
            bytes = half + half
        case .upperCase: bytes = isFirst ? self.section([(":status", "200"), ("X-A", "b")], endsStream: false) : nil
        case .noStatus: bytes = isFirst ? self.section([("x-a", "b")], endsStream: true) : nil
        case .twoStatuses:
            bytes = isFirst ? self.section([(":status", "200"), (":status", "200")], endsStream: false) : nil
        case .fieldOfConnection:
            bytes = isFirst ? self.section([(":status", "200"), ("connection", "close")], endsStream: true) : nil
        case .endedInterim: bytes = isFirst ? self.section([(":status", "103")], endsStream: true) : nil
        case .switching: bytes = isFirst ? self.section([(":status", "101")], endsStream: false) : nil
        case .contentBeforeHead:
            bytes = isFirst ? HTTP2Bytes.frame(HTTP2Bytes.Kind.data, on: self.number) : nil
        case .secondHead:
            bytes =
                self.maySend && self.head != nil && !self.ends
                ? self.section([(":status", "200")], endsStream: false) : nil
        }
        guard let bytes else { return }
        self.hasErred = true
        self.decide(.fails("its frames break HTTP/2"))
        self.peer.send(bytes)
    }

    /// The origin takes no stream above that one.
    func goesAway(last: Int) {
        guard self.number > last else { return }
        self.isAboveLast = true
        self.decide(self.hasAnswer ? .fails("it is above the last stream") : .unseen)
    }

    func connectionEnds(brokenFrames: Bool) {
        // Frames that have come before may still be taken.
        if brokenFrames, self.ask.isPaused, self.fate == .complete { self.ask.mayFail = true }
        self.decide(self.hasAnswer ? .fails("the connection has ended") : .lost)
    }

    private func decide(_ fate: Fate) { if self.fate == .open { self.fate = fate } }

    private func breach(_ sentence: String) {
        self.peer.record.breach("stream \(self.number) of request \(self.ask.token) \(sentence)")
    }
}

/// Bytes that are a function of their name and place alone.
enum ModelBytes {
    private static let all: [UInt8] = {
        var random = SeededGenerator(seed: 9)
        return (0..<400_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    static func of(_ name: Int, count: Int) -> ArraySlice<UInt8> {
        let start = (name * 101) % 50_000
        return self.all[start..<start + count]
    }
}
