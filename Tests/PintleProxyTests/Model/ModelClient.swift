// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleSession

@testable import PintleProxy

/// A client of a course: refuses calls that HTTP does not allow, and compares its answer with those of origins.
final class ModelClient: ClientStream {
    private enum Phase {
        case fresh
        case answering(owed: UInt64?, hasBody: Bool)
        case relaying(TunnelTerms)
        case over
    }

    /// The part of a content that an answer must have.
    private struct Expected {
        let content: [UInt8]
        /// The place of the next byte.
        var next: Int
        let end: Int
    }

    var isWritable = true
    let takesPipes = false
    let owner = ConnectionOwner()
    let clientProcess: ClientProcess? = nil
    private(set) var exchange: Exchange?
    let ask: ModelRecord.Ask
    private let record: ModelRecord
    private var phase = Phase.fresh
    private var status: UInt16 = 0
    private var expected: Expected?
    private var (sent, isGiving) = (0, false)
    private var isAdmitted = false
    /// Content that waits until it is taken: bytes up to here, and then perhaps the end.
    private var (ready, isBodyWhole, hasEndedBody) = (0, false, false)

    init(_ ask: ModelRecord.Ask, _ record: ModelRecord) { (self.ask, self.record) = (ask, record) }

    /// True while another thread checks its password, or reads a stored answer.
    var awaitsOthers: Bool {
        guard case .fresh = self.phase, self.exchange != nil else { return false }
        let configuration = self.record.configuration
        if configuration.hasPasswords { return !self.isAdmitted }
        return configuration.hasDisk && !self.record.origins.contains { $0.token == self.ask.token }
    }

    var isOver: Bool { if case .over = self.phase { true } else { false } }

    private func breach(_ sentence: String) { self.record.breach("request \(self.ask.token): \(sentence)") }

    // MARK: Actions of the client

    func serve(_ exchange: Exchange) {
        self.exchange = exchange
        if !self.ask.request.hasBody { self.hasEndedBody = true }
    }

    func play(sending count: Int) {
        guard self.exchange != nil, self.ask.request.hasBody else { return }
        self.ready = min(self.ask.body.count, self.ready + min(count, self.ask.body.count))
        self.giveBody()
    }

    func playEndOfBody() {
        guard self.exchange != nil, self.ask.request.hasBody else { return }
        (self.ready, self.isBodyWhole) = (self.ask.body.count, true)
        self.giveBody()
    }

    func play(isReading: Bool) {
        guard self.isWritable != isReading else { return }
        self.isWritable = isReading
        if isReading { self.exchange?.clientCaughtUp() } else { self.exchange?.clientFellBehind() }
    }

    func leave() {
        self.closeTunnel()
        guard let exchange else { return }
        self.end()
        exchange.clientLeft()
    }

    /// Closes its tunnel, if it has one.
    func closeTunnel() {
        guard case .relaying(let terms) = self.phase else { return }
        self.record.openTunnels -= 1
        self.end()
        Tunnel.giveUp(terms)
    }

    /// The request has a length of zero, so it has no body.
    func noteEmptyBody() { self.hasEndedBody = true }

    func breakOff() {
        guard let exchange, self.ask.request.hasBody, !self.hasEndedBody else { return }
        exchange.fail(with: Problem(.badRequest, "this is no chunk"))
    }

    // MARK: Calls of the exchange

    func resumeBody() {
        self.isAdmitted = true
        self.giveBody()
    }

    private func giveBody() {
        guard !self.isGiving else { return }
        self.isGiving = true
        defer { self.isGiving = false }
        while let exchange = self.exchange, !self.hasEndedBody {
            if self.sent < self.ready {
                guard exchange.wantsBody else { return }
                let piece = self.ask.body[self.sent..<min(self.ready, self.sent + 20_000)]
                self.sent += piece.count
                exchange.received(ByteBuffer(bytes: piece))
            } else {
                guard self.isBodyWhole, exchange.wantsEndOfBody else { return }
                self.hasEndedBody = true
                exchange.receivedEndOfBody(trailers: Fields())
            }
        }
    }

    func send(interim head: ResponseHead) {
        guard case .fresh = self.phase else { return self.breach("an interim answer follows the head") }
        if head.status / 100 != 1 { self.breach("\(head.status) is no interim answer") }
    }

    func send(_ head: ResponseHead, length: UInt64?) {
        guard case .fresh = self.phase else { return self.breach("a second head comes, \(head.status)") }
        let hasBody = !head.forbidsBody(to: self.ask.request.method)
        self.phase = .answering(owed: hasBody ? length : nil, hasBody: hasBody)
        self.status = head.status
        guard let number = head.fields.values(of: "X-Answer").first.flatMap({ Int($0) }) else {
            return self.checkOwn(head)
        }
        guard self.record.origins.indices.contains(number), let answer = self.record.origins[number].answer else {
            return self.breach("an answer comes that no origin has given")
        }
        let origin = self.record.origins[number]
        if origin.token != self.ask.token, head.fields.contains("Set-Cookie") {
            self.breach("the cookie of request \(origin.token) comes")
        }
        self.record.check(origin, for: self.ask)
        self.expect(answer, head, hasBody: hasBody)
    }

    /// Checks an answer that no origin has given: a problem, a placeholder, or the confirmation that the client asked for.
    private func checkOwn(_ head: ResponseHead) {
        if head.status == 304, self.ask.request.kind == .conditional { return }
        if head.fields.contains("Proxy-Status"), head.status >= 400 { return }
        if head.status == 203, self.record.configuration.judges { return }
        self.breach("gets \(head.status), which nobody has sent")
    }

    private func expect(_ answer: Course.Answer, _ head: ResponseHead, hasBody: Bool) {
        guard hasBody, let version = head.fields.values(of: "X-Version").first.flatMap({ Int($0) }),
            ModelContent.answers.indices.contains(version)
        else { return }
        let content = ModelContent.answers[version]
        if head.status == 206 {
            let range = head.fields.values(of: "Content-Range").first ?? ""
            let bounds = range.split { !$0.isNumber }.compactMap { Int($0) }
            guard bounds.count == 3, bounds[0] <= bounds[1], bounds[1] < content.count, bounds[2] == content.count,
                self.ask.request.kind == .part
            else { return self.breach("gets the part “\(range)” of \(content.count) bytes") }
            self.expected = Expected(content: content, next: bounds[0], end: bounds[1] + 1)
        } else if head.status == 416 {
            return
        } else {
            self.expected = Expected(content: content, next: 0, end: content.count)
        }
        let statuses: [Course.Answer.Kind: UInt16] = [
            .ok: 200, .part: 200, .missing: 404, .failure: 503, .found: 302, .other: 303, .again: 307, .permanent: 308,
        ]
        if head.status != 206, let status = statuses[answer.kind], status != head.status {
            self.breach("gets \(head.status) for \(status)")
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard case .answering(let owed, let hasBody) = self.phase else {
            self.breach("bytes come without a head, or behind the end")
            return 0
        }
        guard hasBody else { return 0 }
        if let owed {
            guard UInt64(bytes.count) <= owed else {
                self.breach("more bytes come than were declared")
                return 0
            }
            self.phase = .answering(owed: owed - UInt64(bytes.count), hasBody: hasBody)
        }
        if let expected {
            self.expected?.next += bytes.count
            if expected.next + bytes.count > expected.end
                || !ModelContent.holds(expected.content, at: expected.next, bytes)
            {
                self.breach("gets other bytes than the content has")
            }
        }
        return bytes.count
    }

    func send(_ piped: PipedBytes) -> Int {
        self.breach("a pipe comes that was not asked for")
        return 0
    }

    func finish(trailers: Fields) {
        guard case .answering(let owed, let hasBody) = self.phase else {
            return self.breach("an end comes without a head, or a second one")
        }
        if hasBody, let owed, owed > 0 { self.breach("\(owed) bytes less come than were declared") }
        if hasBody, let expected {
            if expected.next != expected.end {
                self.breach("a body ends as if it were all, \(expected.end - expected.next) bytes before its end")
            }
            self.checkContract(expected.content)
        }
        self.end()
    }

    /// An answer that breaks the contract of its route reaches no client.
    private func checkContract(_ content: [UInt8]) {
        let yaml = self.record.configuration.yaml
        guard yaml.contains("body: json"), !yaml.contains("on_violation: report"), self.status == 200 else { return }
        // Without content there is nothing to judge.
        let isGood = content.isEmpty || content.first == UInt8(ascii: "\"") && content.last == UInt8(ascii: "\"")
        if !isGood { self.breach("gets a text that is not JSON") }
    }

    func cut() {
        guard case .answering = self.phase else { return self.breach("what has not begun is cut") }
        self.end()
    }

    func relay(_ terms: TunnelTerms) {
        guard case .fresh = self.phase else { return self.breach("a tunnel begins behind a head") }
        let origin = self.record.origins.first { $0.connection?.isOpen(as: terms.origin.descriptor) == true }
        if origin?.token != self.ask.token { self.breach("gets a tunnel that was opened for another") }
        switch self.ask.request.kind {
        case .connect where terms.head == nil: break
        case .upgrade where terms.head?.fields.values(of: "Upgrade") == ["echo"]: break
        default: self.breach("gets a tunnel that it has not asked for")
        }
        (self.phase, self.exchange) = (.relaying(terms), nil)
        self.record.openTunnels += 1
    }

    func open(_ tunnel: InterceptedTunnel) { self.breach("gets a tunnel that it has not asked for") }

    private func end() {
        (self.phase, self.exchange, self.ask.isOver) = (.over, nil, true)
    }
}
