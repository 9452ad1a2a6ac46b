// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy

// What becomes of a response that a route, or an API description, has demands on.
extension Exchange {
    /// How much of a response that is only reported on is kept back, so that a violation found by then can still be said
    /// in the head.
    private static let reportWindow = 64 * 1024

    /// Begins to judge a response, or is done with it at once.
    func judge(_ head: ResponseHead, length: UInt64?, by judge: ResponseJudge) {
        var judge = judge
        let violation = judge.violation(of: head, length: length)
        self.judge = judge
        let need = judge.need(for: head)
        let isFinal =
            judge.isUndeclared || violation?.has(.responseContentType) == true
            || violation?.has(.bodyTooLarge) == true
        guard need != .nothing, !isFinal else {
            var head = head
            judge.removeStaleFields(from: &head)
            return self.settle(HeldResponse(head: head, length: length, need: .nothing), violation)
        }
        if need == .whole, let check = judge.streamedCheck(of: head) {
            self.streamedCheck = StreamedCheck(check, loop: self.connection.lane.loop) { [weak self] in
                self?.proceedWithCheck()
            }
        }
        self.answer = .checking(HeldResponse(head: head, length: length, need: need, violation: violation))
    }

    /// Takes in a piece of the body of a response that is kept back.
    func hold(_ bytes: UnsafeRawBufferPointer) {
        guard case .checking(var held) = self.answer else { return }
        // Taken out while it grows, so that it is never copied.
        self.answer = .none
        held.body.writeBytes(bytes)
        let violation = self.check(bytes)
        let count = held.body.readableBytes
        if let maxBody = self.judge?.maxBody, count > maxBody {
            return self.settle(held, ResponseJudge.beyond(maxBody, held.head))
        }
        if let violation {
            self.settle(held, violation)
        } else if held.need == .firstByte {
            self.judgeWhole(held)
        } else if !self.holdResponse(count + (self.streamedCheck?.memory ?? 0)) {
            self.goOnUnjudged(held, self.memoryShortage)
        } else if self.streamedCheck != nil {
            if count > Self.reportWindow { self.passUnderCheck(held) } else { self.answer = .checking(held) }
        } else if count > self.gate.limits.bodyBuffer {
            self.settle(held, Self.unbuffered(held.head))
        } else {
            self.answer = .checking(held)
        }
    }

    /// Looks at a piece of a body that streams.
    ///
    /// - Returns: the violation that it shows, once.
    func check(_ bytes: UnsafeRawBufferPointer) -> ValidationError? {
        guard let check = self.streamedCheck else { return nil }
        do throws(ValidationError) {
            try check.take(bytes)
        } catch {
            self.endCheck()
            return error
        }
        if check.isBehind { self.clientFellBehind() }
        guard case .body = self.answer, !self.holdResponse(check.memory) else { return nil }
        self.endCheck()
        return ValidationError(
            .bodyTooLarge, self.memoryShortage, status: self.report.upstreamStatus ?? 0, contentType: nil)
    }

    /// Looks at some more of a body that unfolds to more than can be looked at in a turn.
    private func proceedWithCheck() {
        guard let check = self.streamedCheck else { return }
        var violation: ValidationError?
        do throws(ValidationError) {
            try check.proceed()
            if check.isBehind { return }
        } catch {
            self.endCheck()
            violation = error
        }
        if self.connection.channel.isWritable { self.clientCaughtUp() }
        if case .checking(let held) = self.answer {
            if let violation {
                self.settle(held, violation)
            } else {
                // Unless all of the body is here, the verdict comes with the rest.
                if self.awaitsCheck { self.judgeWhole(held) }
                return
            }
        } else if let violation {
            self.note(violation)
        }
        if self.awaitsCheck { self.finishAnswer() }
    }

    private func endCheck() {
        self.streamedCheck?.stop()
        self.streamedCheck = nil
    }

    /// Judges a response of which everything is here that counts.
    func judgeWhole(_ held: HeldResponse) {
        guard let judge = self.judge else { return }
        if let check = self.streamedCheck {
            self.awaitsCheck = check.isBehind
            if check.isBehind { return self.answer = .checking(held) }
            let violation = Result { () throws(ValidationError) in try check.finish() }.failure
            return self.conclude(held, violation)
        }
        let work: @Sendable (WorkBudget) -> (HeldResponse, ValidationError?) = { budget in
            var held = held
            let violation = Result { () throws(ValidationError) in try judge.judge(&held, within: budget) }.failure
            return (held, violation)
        }
        if !judge.isSlow(held) {
            let budget = WorkBudget(steps: Self.promptSteps)
            let (judged, violation) = work(budget)
            if budget.interruption == nil { return self.conclude(judged, violation) }
        }
        self.answer = .checking(held)
        do throws(WorkPool.Refusal) {
            try self.leaveLoop(within: .response(self.gate.limits), work) { exchange, verdict, interruption in
                exchange.judged(held, verdict, interruption)
            }
        } catch {
            self.goOnUnjudged(held, error.reason)
        }
    }

    /// The verdict of another thread.
    private func judged(
        _ held: HeldResponse, _ verdict: (HeldResponse, ValidationError?), _ interruption: WorkBudget.Interruption?
    ) {
        switch interruption {
        case nil: self.conclude(verdict.0, verdict.1)
        case .memory?, .cancelled?: self.goOnUnjudged(held, self.memoryShortage)
        case .steps?, .time?:
            let message = "Request failed: to be judged the body \(interruption?.reason ?? "")"
            self.conclude(
                held,
                ValidationError(
                    .responseBody, message, status: held.head.status, contentType: held.head.fields[.contentType]))
        }
    }

    /// Goes on with a response that there is no room to judge: it passes where violations are only reported.
    private func goOnUnjudged(_ held: HeldResponse, _ reason: String) {
        self.endCheck()
        guard self.judge?.onViolation != .reject, self.judge != nil else {
            return self.refuse(Problem(.overloaded, reason))
        }
        self.conclude(
            held,
            ValidationError(
                .bodyTooLarge, reason, status: held.head.status, contentType: held.head.fields[.contentType]))
    }

    private func conclude(_ held: HeldResponse, _ violation: ValidationError?) {
        self.settle(held, violation)
        if self.transfer == nil { self.finishAnswer() }
    }

    /// Passes on what was kept back of a body that is looked at as it streams. What the head violates can still be said.
    private func passUnderCheck(_ held: HeldResponse) {
        guard let violation = held.violation else { return self.pass(held, marked: []) }
        self.report.violated(violation)
        self.pass(held, marked: violation.kinds)
    }

    /// The end of a body that was looked at as it streamed.
    func finishCheck() {
        guard self.streamedCheck != nil else { return }
        do throws(ValidationError) {
            try self.streamedCheck?.finish()
        } catch {
            self.note(error)
        }
        self.endCheck()
    }

    /// Passes a judged response on, or what is sent in its place.
    ///
    /// - Parameter violation: found since the head was judged; what the head has violated is in `held`.
    func settle(_ held: HeldResponse, _ violation: ValidationError?) {
        guard let violation = ValidationError.ordered([held.violation, violation]) else {
            return self.pass(held, marked: [])
        }
        self.report.violated(violation)
        self.endCheck()
        // Told once.
        if violation.has(.bodyTooLarge) { self.hasExceeded = true }
        switch self.judge?.onViolation {
        case .report: self.pass(held, marked: violation.kinds)
        case .placeholder where self.rules?.placeholder != nil: self.answerPlaceholder(violation)
        case .placeholder, .reject, nil: self.refuse(Problem(violation))
        }
    }

    /// Notes a violation of a response whose head has left: in the log, and in a trailer where there can be one.
    func note(_ violation: ValidationError) {
        self.report.violated(violation)
        for kind in violation.kinds { self.report.trailers.append("Pintle-Violation", kind.rawValue) }
    }

    /// A body that streams has turned out to be longer than the route takes.
    ///
    /// - Returns: whether the answer was cut: what has left cannot be taken back, but it must not look complete.
    func exceeds(_ maxBody: Int) -> Bool {
        guard !self.hasExceeded else { return false }
        self.hasExceeded = true
        let violation = ResponseJudge.beyond(maxBody, ResponseHead(status: self.report.upstreamStatus ?? 0))
        self.note(violation)
        guard self.judge?.onViolation != .report else { return false }
        self.cut(violation.message)
        return true
    }

    private static func unbuffered(_ head: ResponseHead) -> ValidationError {
        ValidationError(
            .bodyTooLarge, "the route must see the whole body, and it is over limits.body_buffer", status: head.status,
            contentType: head.fields[.contentType])
    }

    private func pass(_ held: HeldResponse, marked violations: [ViolationKind]) {
        let isWhole = self.transfer == nil && held.need != .nothing
        var length = isWhole ? UInt64(held.body.readableBytes) : held.length
        if !held.trailers.isEmpty, !held.isReplaced {
            // Only chunks have trailers behind them.
            length = nil
            self.report.append(trailers: held.trailers)
        }
        self.pass(held.head, length: length, marked: violations)
        guard held.body.readableBytes > 0, case .body(let framing) = self.answer else { return }
        held.body.withUnsafeReadableBytes { self.writeBody($0, framing) }
        // From here on the channel counts what its client does not take. A check under way goes on.
        _ = self.holdResponse(self.streamedCheck?.memory ?? 0)
    }

    /// Answers with the route's placeholder.
    private func answerPlaceholder(_ violation: ValidationError) {
        guard let placeholder = self.rules?.placeholder else { return }
        self.forgetRunningTransfer()
        self.report.problem = Problem(violation).name
        var head = ResponseHead(status: placeholder.status, reason: "")
        head.fields.append("Date", HTTPDate.now)
        head.fields.append("Content-Type", placeholder.mediaType)
        head.fields.append("Cache-Control", "no-store")
        for kind in violation.kinds { head.fields.append("Pintle-Violation", kind.rawValue) }
        self.write(head, framing: .length(UInt64(placeholder.body.count)))
        self.owedBytes = 0
        if self.head.method != "HEAD" {
            self.report.bytesOut += placeholder.body.count
            self.connection.write { $0.writeBytes(placeholder.body) }
        }
        self.finish(.completed)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
