// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
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
        if need == .whole { self.streamedCheck = judge.streamedCheck(of: head) }
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
        guard self.streamedCheck != nil else { return nil }
        do throws(ValidationError) {
            try self.streamedCheck?.take(bytes)
            return nil
        } catch {
            self.streamedCheck = nil
            return error
        }
    }

    /// Judges a response of which everything is here that counts.
    func judgeWhole(_ held: HeldResponse) {
        guard let judge = self.judge else { return }
        if let check = self.streamedCheck {
            let violation = Result { () throws(ValidationError) in try check.finish() }.failure
            return self.conclude(held, violation)
        }
        guard judge.isSlow(held) else {
            var held = held
            let violation = Result { () throws(ValidationError) in try judge.judge(&held) }.failure
            return self.conclude(held, violation)
        }
        self.answer = .checking(held)
        let ticket = self.connection.lane.wait(for: self)
        let lane = self.connection.lane
        DispatchQueue.global().async {
            var held = held
            let violation = Result { () throws(ValidationError) in try judge.judge(&held) }.failure
            lane.loop.execute { [held] in lane.resume(ticket)?.judged(held, violation) }
        }
    }

    /// The verdict of another thread, which comes in vain where the client has left in the meantime.
    private func judged(_ held: HeldResponse, _ violation: ValidationError?) {
        guard case .checking = self.answer else { return }
        self.conclude(held, violation)
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
        self.streamedCheck = nil
    }

    /// Passes a judged response on, or what is sent in its place.
    ///
    /// - Parameter violation: found since the head was judged; what the head has violated is in `held`.
    func settle(_ held: HeldResponse, _ violation: ValidationError?) {
        guard let violation = ValidationError.ordered([held.violation, violation]) else {
            return self.pass(held, marked: [])
        }
        self.report.violated(violation)
        self.streamedCheck = nil
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
