// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

/// Validates one response against the rules of its route or of an API description.
///
/// A response is held back until it can be validated: as a whole; by its first byte; or, if violations are only reported, until
/// enough of it has arrived to put early violations into the head. The inspection is given the response piece by piece, and
/// returns actions. Used on one event loop.
final class ResponseInspection {
    /// The next step for the response.
    enum Action {
        /// Nothing is passed on yet.
        case wait
        /// The response passes, with the held part of its body, and marked with its violation.
        case pass(HeldResponse, ValidationError?)
        /// Another response is sent in its place.
        case reject(ValidationError)
        /// There is not enough memory to validate it; so it is not passed on.
        case refuse(String)
        /// The response is to be validated on another thread, with ``judge(_:by:within:)``.
        case judge(HeldResponse, by: ResponseValidator)
        /// The given bytes are passed on; they have these violations.
        case forward([ValidationError])
        /// The response is cut: sent bytes cannot be taken back, and must not look complete.
        case cut([ValidationError])
        /// The response is complete; its end may have a violation.
        case finish(ValidationError?)
    }

    private enum Phase {
        case fresh
        /// Nothing was sent, and more must arrive.
        case holding(HeldResponse)
        /// Another thread validates it.
        case judging(HeldResponse)
        /// The head was sent.
        case passing
        /// Another response was sent, or the end was reached.
        case over
    }

    /// The most bytes that are held back of a response with report-only rules, so that early violations can be put into the
    /// head.
    private static let reportWindow = 64 * 1024

    private var judge: ResponseValidator
    private let bodyBuffer: Int
    private let shortage: String
    private let loop: Loop
    /// Reserves this number of bytes; false if there is not enough memory.
    private let reserve: (Int) -> Bool
    /// Called in a later turn if a check lags; the owner then calls ``proceed()``.
    private let whenBehind: () -> Void
    private var phase = Phase.fresh
    /// Checks the body while it streams.
    private var check: StreamingValidator?
    private var status: UInt16 = 0
    private var receivedBytes = 0
    /// True once an excessive body was reported.
    private var hasExceeded = false
    /// True once the origin has sent everything.
    private var hasEnded = false

    init(
        _ judge: ResponseValidator, limits: LimitsConfiguration, loop: Loop, reserve: @escaping (Int) -> Bool,
        whenBehind: @escaping () -> Void
    ) {
        self.judge = judge
        self.bodyBuffer = limits.bodyBuffer
        self.shortage = limits.memoryShortage
        self.loop = loop
        self.reserve = reserve
        self.whenBehind = whenBehind
    }

    /// The approximate memory of a continuing check, in bytes.
    var memory: Int { self.check?.memory ?? 0 }

    /// True while no more of the response should be taken.
    var isBehind: Bool { self.check?.isBehind == true }

    /// Validates the head of a response.
    func receive(_ head: ResponseHead, length: UInt64?) -> Action {
        guard case .fresh = self.phase else { preconditionFailure("BUG: a second head is inspected") }
        self.status = head.status
        let (violation, need) = self.judge.judgeHead(head, length: length)
        guard need != .nothing else {
            var head = head
            self.judge.removeStaleFields(from: &head)
            return self.settle(HeldResponse(head: head, length: length, need: .nothing), violation)
        }
        if need == .whole, let check = self.judge.streamedCheck(of: head) {
            self.check = StreamingValidator(check, loop: self.loop, proceed: self.whenBehind)
        }
        self.phase = .holding(HeldResponse(head: head, length: length, need: need, violation: violation))
        return .wait
    }

    /// Validates the head with which an origin switches protocols; there is no body.
    ///
    /// - Returns: `pass` or `reject`.
    func receive(switching head: ResponseHead) -> Action {
        let violation = self.judge.violation(of: head, length: nil)
        return self.settle(HeldResponse(head: head, length: nil, need: .nothing), violation)
    }

    /// Validates a piece of the body.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Action {
        switch self.phase {
        case .passing: return self.inspect(bytes)
        case .holding(let held): return self.hold(bytes, behind: held)
        // The rest of a response that is validated by its first byte waits for the verdict.
        case .judging(var held):
            held.body.writeBytes(bytes)
            self.phase = .judging(held)
            return .wait
        case .fresh, .over: preconditionFailure("BUG: a body is inspected that has no head, or is over")
        }
    }

    private func inspect(_ bytes: UnsafeRawBufferPointer) -> Action {
        var found: [ValidationError] = []
        if let violation = self.lookAt(bytes) { found.append(violation) }
        if let check, !self.reserve(check.memory) {
            self.endCheck()
            found.append(ValidationError(.bodyTooLarge, self.shortage, status: self.status, contentType: nil))
        }
        self.receivedBytes += bytes.count
        guard let maxBody = self.judge.maxBody, self.receivedBytes > maxBody, !self.hasExceeded else {
            return .forward(found)
        }
        self.hasExceeded = true
        found.append(ResponseValidator.beyond(maxBody, ResponseHead(status: self.status)))
        return self.judge.onViolation == .report ? .forward(found) : .cut(found)
    }

    private func hold(_ bytes: UnsafeRawBufferPointer, behind kept: consuming HeldResponse) -> Action {
        // Moved out of the state while it grows, so that it is never copied.
        self.phase = .over
        var held = kept
        held.body.writeBytes(bytes)
        let violation = self.lookAt(bytes)
        let count = held.body.readableBytes
        self.receivedBytes = count
        if let maxBody = self.judge.maxBody, count > maxBody {
            return self.settle(held, ResponseValidator.beyond(maxBody, held.head))
        }
        if let violation { return self.settle(held, violation) }
        if held.need == .firstByte { return self.judgeWhole(held) }
        guard self.reserve(count + (self.check?.memory ?? 0)) else { return self.goOnUnjudged(held, self.shortage) }
        if self.check != nil {
            if count > Self.reportWindow { return self.pass(held, held.violation) }
        } else if count > self.bodyBuffer {
            return self.settle(held, ResponseValidator.unbuffered(held.head))
        }
        self.phase = .holding(held)
        return .wait
    }

    /// Keeps the trailers of a response that is held back.
    ///
    /// - Returns: true if the response is held back.
    func keep(trailers: Fields) -> Bool {
        guard case .holding(var held) = self.phase else { return false }
        held.trailers = trailers
        self.phase = .holding(held)
        return true
    }

    /// Validates the end of a response.
    func end() -> Action {
        self.hasEnded = true
        switch self.phase {
        case .holding(let held): return self.judgeWhole(held)
        case .judging: return .wait
        case .passing:
            if self.isBehind { return .wait }
            let violation = self.finishCheck()
            self.phase = .over
            return .finish(violation)
        case .fresh, .over: preconditionFailure("BUG: a response ends that has not begun, or is over")
        }
    }

    /// Continues with a body that decodes to more than can be checked in a turn.
    func proceed() -> Action {
        guard let check = self.check else { return .wait }
        var violation: ValidationError?
        do throws(ValidationError) {
            try check.proceed()
            if check.isBehind { return .wait }
        } catch {
            self.endCheck()
            violation = error
        }
        switch self.phase {
        case .holding(let held):
            if let violation { return self.settle(held, violation) }
            // If the body is incomplete, the verdict comes with the rest.
            return self.hasEnded ? self.judgeWhole(held) : .wait
        case .passing:
            guard self.hasEnded else { return .forward(violation.map { [$0] } ?? []) }
            let last = violation ?? self.finishCheck()
            self.phase = .over
            return .finish(last)
        case .fresh, .judging, .over: preconditionFailure("BUG: a check goes on without a response")
        }
    }

    /// Ends the inspection without a verdict.
    func stop() {
        self.endCheck()
        self.phase = .over
    }

    // MARK: Judging

    /// Validates a response as a whole, on any thread.
    static func judge(
        _ held: HeldResponse, by judge: ResponseValidator, within budget: WorkBudget
    ) -> (HeldResponse, ValidationError?) {
        var held = held
        do throws(ValidationError) {
            try judge.judge(&held, within: budget)
            return (held, nil)
        } catch {
            return (held, error)
        }
    }

    /// Validates a response of which all relevant bytes are here.
    private func judgeWhole(_ held: HeldResponse) -> Action {
        if let check = self.check {
            self.phase = .holding(held)
            return check.isBehind ? .wait : self.settle(held, self.finishCheck())
        }
        if !self.judge.isSlow(held) {
            let budget = WorkBudget(steps: WorkBudget.promptSteps)
            let (judged, violation) = Self.judge(held, by: self.judge, within: budget)
            if budget.interruption == nil { return self.settle(judged, violation) }
        }
        self.phase = .judging(held)
        return .judge(held, by: self.judge)
    }

    /// Takes the verdict of another thread.
    func judged(
        _ verdict: (held: HeldResponse, violation: ValidationError?), _ interruption: WorkBudget.Interruption?
    ) -> Action {
        guard case .judging(var held) = self.phase else {
            preconditionFailure("BUG: a verdict comes that nobody awaits")
        }
        switch interruption {
        case nil:
            // More bytes may have arrived after the one that was validated.
            if verdict.held.need == .whole { held = verdict.held }
            return self.settle(held, verdict.violation)
        case .memory, .cancelled: return self.goOnUnjudged(held, self.shortage)
        case .steps, .time:
            let message = "Request failed: to be judged the body \(interruption?.reason ?? "")"
            return self.settle(held, Self.violation(.responseBody, message, held.head))
        }
    }

    /// Continues if no thread can validate the response.
    func notJudged(_ reason: String) -> Action {
        guard case .judging(let held) = self.phase else { preconditionFailure("BUG: nothing was to be judged") }
        return self.goOnUnjudged(held, reason)
    }

    /// Continues with a response that cannot be validated for lack of resources; it passes if violations are only reported.
    private func goOnUnjudged(_ held: HeldResponse, _ reason: String) -> Action {
        self.endCheck()
        guard self.judge.onViolation != .reject else {
            self.phase = .over
            return .refuse(reason)
        }
        return self.settle(held, Self.violation(.bodyTooLarge, reason, held.head))
    }

    /// - Parameter violation: a violation found after the head was validated; `held` has those of the head.
    private func settle(_ held: HeldResponse, _ violation: ValidationError?) -> Action {
        guard let violation = ValidationError.ordered([held.violation, violation]) else { return self.pass(held, nil) }
        self.endCheck()
        // Reported once.
        if violation.has(.bodyTooLarge) { self.hasExceeded = true }
        if self.judge.onViolation == .report { return self.pass(held, violation) }
        self.phase = .over
        return .reject(violation)
    }

    private func pass(_ held: HeldResponse, _ violation: ValidationError?) -> Action {
        self.phase = self.hasEnded && !self.isBehind ? .over : .passing
        return .pass(held, violation)
    }

    // MARK: The streamed check

    /// - Returns: the violation in these bytes, once.
    private func lookAt(_ bytes: UnsafeRawBufferPointer) -> ValidationError? {
        guard let check = self.check else { return nil }
        do throws(ValidationError) {
            try check.take(bytes)
            return nil
        } catch {
            self.endCheck()
            return error
        }
    }

    private func finishCheck() -> ValidationError? {
        guard let check = self.check else { return nil }
        defer { self.endCheck() }
        do throws(ValidationError) {
            try check.finish()
            return nil
        } catch {
            return error
        }
    }

    private func endCheck() {
        self.check?.stop()
        self.check = nil
    }

    private static func violation(
        _ kind: ValidationError.Kind, _ message: String, _ head: ResponseHead
    ) -> ValidationError {
        ValidationError(kind, message, status: head.status, contentType: head.fields[.contentType])
    }
}
