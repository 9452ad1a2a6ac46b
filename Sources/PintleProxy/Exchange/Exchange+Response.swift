// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

// The way back.
extension Exchange: TransferDelegate {
    func transfer(_ transfer: Transfer, receivedInterim head: ResponseHead) { self.pass(interim: head) }

    func pass(interim head: ResponseHead) {
        // An HTTP/1.0 client knows no interim responses (RFC 9110 §15.2).
        guard case .none = self.answer, self.head.minorVersion == 1 else { return }
        var head = head
        Forwarding.removeHopByHop(from: &head.fields)
        self.connection.write { $0.writeInterim(head) }
    }

    func transfer(_ transfer: Transfer, received head: ResponseHead, length: UInt64?) {
        self.note(head, version: transfer.responseVersion, verdict: self.asksForVerdict ? transfer.verdict : nil)
        self.report.noteParentVerdict(of: transfer)
        guard head.status != 101 else {
            return self.refuse(Problem(.upstreamProtocol, "the origin switched protocols without being asked"))
        }
        if head.status == 407, let parent = self.forwarder {
            return self.refuse(Problem(unadmittedBy: parent))
        }
        self.answer(with: head, length: length)
    }

    /// Notes what is to be known of a response.
    func note(_ head: ResponseHead, version: String, verdict: Verdict?) {
        self.report.upstreamStatus = head.status
        self.report.upstreamVersion = version
        if let verdict { self.report.note(verdict) }
    }

    /// Begins the answer that the origin gives.
    func answer(with head: ResponseHead, length: UInt64?) {
        guard let judge = self.judge else { return self.pass(head, length: length) }
        self.judge(head, length: length, by: judge)
    }

    func transfer(_ transfer: Transfer, receivedBody bytes: UnsafeRawBufferPointer) { self.answer(with: bytes) }

    /// Goes on with the answer.
    func answer(with bytes: UnsafeRawBufferPointer) {
        switch self.answer {
        case .body(let framing):
            if let violation = self.check(bytes) { self.note(violation) }
            self.receivedBytes += bytes.count
            if let maxBody = self.judge?.maxBody, self.receivedBytes > maxBody, self.exceeds(maxBody) { return }
            self.writeBody(bytes, framing)
        case .checking: self.hold(bytes)
        case .none, .done: break
        }
    }

    func transfer(_ transfer: Transfer, receivedTrailers fields: Fields) { self.answer(withTrailers: fields) }

    func answer(withTrailers fields: Fields) {
        var fields = fields
        Forwarding.removeForbidden(fromTrailers: &fields)
        self.rules?.responseHeaders.apply(toTrailers: &fields)
        switch self.answer {
        case .body(.chunked): self.report.append(trailers: fields)
        case .checking(var held):
            held.trailers = fields
            self.answer = .checking(held)
        case .none, .body, .done: break
        }
    }

    func transfer(_ transfer: Transfer, sentBodyBytes count: Int) {
        // From within the transfer; the connection looks for more when it has returned.
        guard !self.resumesBody else { return }
        self.resumesBody = true
        self.connection.lane.loop.atEndOfTurn(self)
    }

    func transfer(_ transfer: Transfer, connected connection: MadeConnection) {
        self.forgetTransfer()
        self.report.noteParentVerdict(of: transfer)
        self.openTunnel(on: connection)
    }

    func transfer(_ transfer: Transfer, finishedWith error: SessionError?, metrics: TransferMetrics) {
        self.report.metrics = metrics
        self.forgetTransfer()
        if let question = self.asked {
            self.asked = nil
            return self.proved(question, by: transfer.verdict, error)
        }
        if let error { return self.fail(with: error) }
        if case .checking(let held) = self.answer { return self.judgeWhole(held) }
        self.finishAnswer()
    }

    /// The end of an answer that has begun, once there is nothing more to come.
    func finishAnswer() {
        guard case .body(let framing) = self.answer else { return }
        self.awaitsCheck = self.streamedCheck?.isBehind == true
        if self.awaitsCheck { return }
        self.finishCheck()
        if case .chunked = framing { self.connection.write { $0.writeLastChunk(self.report.trailers) } }
        guard self.owedBytes == 0 else { return self.cut("the origin sent less than it declared") }
        self.finish(.completed)
    }

    // MARK: Writing

    /// Passes a response on.
    ///
    /// - Parameter violations: what it breaks, where that is only reported.
    func pass(_ head: ResponseHead, length: UInt64?, marked violations: [ViolationKind] = []) {
        let framing = ResponseFraming(
            method: self.head.method, minorVersion: self.head.minorVersion, head: head, length: length)
        self.write(self.forwarded(head, marked: violations), framing: framing)
    }

    /// A response's head as the client gets it, without framing.
    func forwarded(_ head: ResponseHead, marked violations: [ViolationKind]) -> ResponseHead {
        var head = head
        Forwarding.removeHopByHop(from: &head.fields)
        self.rules?.responseHeaders.apply(to: &head.fields)
        for violation in violations { head.fields.append("Pintle-Violation", violation.rawValue) }
        if let via = self.gate.via { Forwarding.appendVia(via, version: self.report.upstreamVersion, to: &head.fields) }
        for violation in [self.report.trustViolation, self.report.requestViolation] {
            if let violation { head.fields.append("Pintle-Violation", violation.rawValue) }
        }
        return head
    }

    /// Writes a head; the body may follow.
    func write(_ head: ResponseHead, framing: ResponseFraming) {
        let keepAlive =
            self.keepsAlive && framing != .untilClose && !self.connection.lane.isDraining && self.connection.mayAskMore
        self.report.status = head.status
        self.answer = .body(framing)
        self.announcedKeepAlive = keepAlive
        if case .length(let length) = framing { self.owedBytes = length }
        self.connection.write {
            $0.writeHead(head, framing: framing, keepAlive: keepAlive, minorVersion: self.head.minorVersion)
        }
    }

    func writeBody(_ bytes: UnsafeRawBufferPointer, _ framing: ResponseFraming) {
        switch framing {
        case .none: return self.cut("the origin sent a body where there can be none")
        case .length:
            guard UInt64(bytes.count) <= self.owedBytes else {
                return self.cut("the origin sent more than it declared")
            }
            self.owedBytes -= UInt64(bytes.count)
        case .chunked, .untilClose: break
        }
        self.report.bytesOut += bytes.count
        self.connection.write { output in
            if case .chunked = framing { output.writeChunk(bytes) } else { output.writeBytes(bytes) }
        }
        if !self.connection.channel.isWritable { self.clientFellBehind() }
    }

    /// Breaks an answer off whose bytes do not fit its head: what follows would pass for another answer.
    func cut(_ reason: String) {
        self.report.error = reason
        self.finish(.failed, cutting: true)
    }

    // MARK: Refusing

    /// Answers with a problem of Pintle's own.
    func refuse(_ problem: Problem) {
        self.forgetRunningTransfer()
        self.report.problem = problem.name
        self.report.error = problem.detail
        let context = ProblemWriter.Context(
            exchangeID: self.report.id.description, route: self.rules?.name, trust: self.report.trust,
            json: ProblemWriter.acceptsJSON(self.accept))
        let (head, body) = ProblemWriter.response(problem, context)
        self.write(head, framing: .length(UInt64(body.count)))
        self.owedBytes = 0
        if self.head.method != "HEAD" { self.connection.write { $0.writeBytes(body) } }
        self.finish(.failed)
    }

    func fail(with error: SessionError) {
        if let verdict = error.verdict { self.report.refused(by: verdict) }
        let problem = self.gate.outlook.problem(error, with: self.dialled)
        if let kind = ViolationKind(rawValue: problem.name.rawValue), error.code == .untrusted {
            self.report.violated(kind)
            if kind == .pinMismatch { self.report.counters.pinFailed() }
        }
        self.fail(with: problem)
    }

    func forgetRunningTransfer() {
        let (transfer, upgrade) = (self.transfer, self.upgrade)
        self.forgetTransfer()
        transfer?.cancel()
        upgrade?.cancel()
    }
}

/// Takes the request's body on, once the transfer has returned.
extension Exchange: TurnEndWork {
    func runAtEndOfTurn() {
        self.resumesBody = false
        self.proceedWithBody()
        self.connection.resumeBody()
    }
}
