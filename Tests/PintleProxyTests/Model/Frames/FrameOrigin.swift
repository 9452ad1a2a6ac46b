// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleTrust

@testable import PintleProxy
@testable import PintleSession

/// An origin of a course of frames: compares the request with the client's.
final class FrameOrigin: PlayedOrigin {
    override var responseVersion: String { "2" }
    let number: Int
    /// The number of the stream that it is asked for.
    let token: Int
    private(set) var answer: FrameCourse.Answer?
    private(set) var interims: [FrameCourse.Filling] = []
    /// True once it has given all of its answer.
    private(set) var isComplete = false
    private(set) var hasTrailers = false
    /// The length that it has named.
    private(set) var toldLength: Int?
    private(set) var content: ArraySlice<UInt8> = []
    /// Bytes of the content that it has given.
    private(set) var given = 0
    /// The turns in which it has given its head, its last bytes, and its end.
    private(set) var (headTurn, lastTurn, endTurn): (UInt64?, UInt64?, UInt64?)
    private let model: FrameModel

    init(_ request: TransferRequest, _ model: FrameModel, _ delegate: any TransferDelegate) {
        self.model = model
        self.token = request.fields["X-Token"].flatMap { Int($0) } ?? -1
        self.number = model.origins.count
        super.init(request, delegate)
    }

    override var hasAnswered: Bool { self.answer != nil }

    override func breach(_ sentence: String) { self.model.breach("the origin of stream \(self.token): \(sentence)") }

    func checkRequest(of stream: FrameModel.Stream) {
        let asked = stream.request
        if self.request.method != asked.method || self.request.path != "/\(stream.number)" {
            self.breach("is asked to \(self.request.method) \(self.request.path)")
        }
        if "\(self.request.authority)" != "a.test:443" { self.breach("is \(self.request.authority)") }
        var lines: [String] = []
        self.request.fields.forEachLine { _, line in
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("x-f"), let colon = text.firstIndex(of: ":") else { return }
            lines.append(text[..<colon] + ":" + text[colon...].dropFirst(2))
        }
        if lines != FrameText.lines(asked.filling) { self.breach("gets other fields than the client has sent") }
        let length: Int? =
            switch asked.body {
            case .none, .undeclared: nil
            case .declared: asked.size
            case .tooShort: asked.size + 1
            case .tooLong: max(0, asked.size - 1)
            }
        if self.request.body.length != length.map({ UInt64($0) }) || self.hasWholeBody != (asked.body == .none) {
            self.breach("is told of a body as \(self.request.body), not of \(length ?? -1) bytes")
        }
    }

    // MARK: Actions of the origin

    func play(interim filling: FrameCourse.Filling) {
        guard self.answer == nil, !self.isOver else { return }
        self.interims.append(filling)
        var head = ResponseHead(status: 103)
        Self.fill(&head.fields, filling)
        self.delegate?.originSent(interim: head)
    }

    private static func fill(_ fields: inout Fields, _ filling: FrameCourse.Filling) {
        for line in 0..<filling.lines {
            fields.append(FrameText.name(line), String(decoding: FrameText.value(line, filling.size), as: UTF8.self))
        }
    }

    func play(_ answer: FrameCourse.Answer) {
        guard self.answer == nil, !self.isOver else { return }
        self.answer = answer
        var head = ResponseHead(status: answer.status, fields: ["X-Answer": "\(self.number)"])
        Self.fill(&head.fields, answer.filling)
        let whole = ModelContent.answers[answer.version]
        let isBodiless = head.forbidsBody(to: self.request.method)
        if !isBodiless, !answer.endsWithHead { self.content = whole[...] }
        if answer.length == .told, answer.status != 204 {
            self.toldLength = isBodiless ? whole.count : self.content.count
            head.fields.append("Content-Length", "\(self.toldLength ?? 0)")
        }
        // The HTTP/2 stream that an answer comes from sets this as well.
        head.endsUnmeasured = answer.endsWithHead && !isBodiless && self.toldLength == nil
        (self.headTurn, self.lastTurn) = (self.model.turn, self.model.turn)
        let length = head.endsUnmeasured ? 0 : self.toldLength.map { UInt64($0) }
        self.delegate?.originAnswered(head, length: length)
        if answer.endsWithHead { self.playEnd() }
    }

    /// Sends up to `count` bytes, unless the exchange does not want them now.
    func play(giving count: Int) {
        let rest = self.content.dropFirst(self.given)
        guard self.answer != nil, !self.isOver, !self.isPaused, !rest.isEmpty else { return }
        let piece = rest.prefix(count)
        self.given += piece.count
        self.lastTurn = self.model.turn
        piece.withUnsafeBytes { self.delegate?.originSent($0) }
    }

    private var hasGivenAll: Bool { self.answer != nil && !self.isOver && self.given == self.content.count }

    func playTrailers() {
        self.play(giving: .max)
        guard self.hasGivenAll, !self.hasTrailers else { return }
        self.hasTrailers = true
        self.lastTurn = self.model.turn
        self.delegate?.originSent(trailers: ["X-Trailer": "\(self.number)"])
    }

    override func playEnd() {
        self.play(giving: .max)
        guard self.hasGivenAll else { return }
        (self.isComplete, self.endTurn) = (true, self.model.turn)
        self.tellEnd(nil)
    }

    /// Brings it to its end.
    func playRest() {
        self.isSlow = false
        self.playTaking()
        if self.answer == nil { self.play(FrameCourse.Answer(version: 2)) }
        self.playEnd()
    }

    // MARK: The request's body

    override func compare(_ bytes: ByteBuffer) {
        guard let body = self.model.stream(self.token)?.body else { return }
        let end = self.received + bytes.readableBytes
        if end > body.count || !bytes.withUnsafeReadableBytes({ FrameText.isEqual($0, to: body[self.received..<end]) })
        {
            self.breach("gets other bytes than the client has sent")
        }
    }

    override func compareEnd(trailers: Fields) {
        // A body that is longer than its length has an end before.
        guard let stream = self.model.stream(self.token), !stream.request.body.isWrong else { return }
        if !stream.hasEnded { self.breach("a body ends that goes on") }
        if let length = self.request.body.length, self.received != length {
            self.breach("a body of \(length) bytes ends after \(self.received)")
        }
        if self.received != stream.sent { self.breach("gets \(self.received) bytes of \(stream.sent)") }
        if trailers["X-Trailer"] != (stream.endsWithTrailers ? "\(self.token)" : nil) {
            self.breach("gets other trailers than the client has sent")
        }
    }
}

/// Opens the origins of a course of frames.
final class FrameOpener: OriginOpener {
    var model: FrameModel?
    /// Called with each exchange that asks.
    var whenAsked: ((Exchange) -> Void)?

    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate
    ) -> any OriginStream {
        guard let model else { preconditionFailure("an origin is asked between two courses") }
        if let exchange = delegate as? Exchange { self.whenAsked?(exchange) }
        let origin = FrameOrigin(request, model, delegate)
        model.add(origin)
        return origin
    }
}
