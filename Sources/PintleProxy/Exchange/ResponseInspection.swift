// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy

/// Holds one response to what its route, or an API description, demands of it.
///
/// A response is kept back until it can be judged: as a whole, by its first byte, or, where violations are only reported, until
/// so much of it is here that its head leaves with what is known. It is told of the response, and says what becomes of it. Used
/// on one loop.
final class ResponseInspection {
    /// Tells what becomes of the response.
    enum Action {
        /// Nothing is passed on yet.
        case wait
        /// The response passes, with what is held of its body, marked by what it violates.
        case pass(HeldResponse, ValidationError?)
        /// Something else is answered in its place.
        case reject(ValidationError)
        /// There is no room to judge it, and so it is not passed on.
        case refuse(String)
        /// It is to be judged on another thread, with ``judge(_:by:within:)``.
        case judge(HeldResponse, by: ResponseJudge)
        /// The bytes that were given are passed on; these violations were found in them.
        case forward([ValidationError])
        /// The answer is cut: what has left cannot be taken back, and must not look complete.
        case cut([ValidationError])
        /// The answer is complete; this was found at its end.
        case finish(ValidationError?)
    }

    private enum Phase {
        case fresh
        /// Nothing has left, and more has to come.
        case holding(HeldResponse)
        /// Another thread judges it.
        case judging(HeldResponse)
        /// The head has left.
        case passing
        /// Something else was answered, or the end was there.
        case over
    }

    /// How much of a response that is only reported on is kept back, so that a violation found by then can still be said
    /// in the head.
    private static let reportWindow = 64 * 1024

    private var judge: ResponseJudge
    private let bodyBuffer: Int
    private let shortage: String
    private let loop: Loop
    /// Holds so many bytes; false where there is no room for them.
    private let reserve: (Int) -> Bool
    /// Called in a later turn where a check is behind; whoever made the inspection then calls ``proceed()``.
    private let whenBehind: () -> Void
    private var phase = Phase.fresh
    /// Looks at the body while it streams.
    private var check: StreamedCheck?
    private var status: UInt16 = 0
    private var receivedBytes = 0
    /// True once a body that is too long was told of.
    private var hasExceeded = false
    /// True once the origin has sent everything.
    private var hasEnded = false

    init(
        _ judge: ResponseJudge, limits: LimitsConfiguration, loop: Loop, reserve: @escaping (Int) -> Bool,
        whenBehind: @escaping () -> Void
    ) {
        self.judge = judge
        self.bodyBuffer = limits.bodyBuffer
        self.shortage = limits.memoryShortage
        self.loop = loop
        self.reserve = reserve
        self.whenBehind = whenBehind
    }

    /// About how much memory a check that goes on takes, in bytes.
    var memory: Int { self.check?.memory ?? 0 }

    /// True while no more of the response should be taken.
    var isBehind: Bool { self.check?.isBehind == true }

    /// Looks at the head of a response.
    func receive(_ head: ResponseHead, length: UInt64?) -> Action {
        guard case .fresh = self.phase else { preconditionFailure("BUG: a second head is inspected") }
        self.status = head.status
        let violation = self.judge.violation(of: head, length: length)
        let need = self.judge.need(for: head)
        let isFinal =
            self.judge.isUndeclared || violation?.has(.responseContentType) == true
            || violation?.has(.bodyTooLarge) == true
        guard need != .nothing, !isFinal else {
            var head = head
            self.judge.removeStaleFields(from: &head)
            return self.settle(HeldResponse(head: head, length: length, need: .nothing), violation)
        }
        if need == .whole, let check = self.judge.streamedCheck(of: head) {
            self.check = StreamedCheck(check, loop: self.loop, proceed: self.whenBehind)
        }
        self.phase = .holding(HeldResponse(head: head, length: length, need: need, violation: violation))
        return .wait
    }

    /// Looks at the head with which an origin switches protocols: it has no body.
    ///
    /// - Returns: `pass` or `reject`.
    func receive(switching head: ResponseHead) -> Action {
        let violation = self.judge.violation(of: head, length: nil)
        return self.settle(HeldResponse(head: head, length: nil, need: .nothing), violation)
    }

    /// Looks at a piece of the body.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Action {
        switch self.phase {
        case .passing: return self.inspect(bytes)
        case .holding(let held): return self.hold(bytes, behind: held)
        // The rest of a response that is judged by its first byte waits for the verdict.
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
        found.append(ResponseJudge.beyond(maxBody, ResponseHead(status: self.status)))
        return self.judge.onViolation == .report ? .forward(found) : .cut(found)
    }

    private func hold(_ bytes: UnsafeRawBufferPointer, behind kept: consuming HeldResponse) -> Action {
        // Taken out while it grows, so that it is never copied.
        self.phase = .over
        var held = kept
        held.body.writeBytes(bytes)
        let violation = self.lookAt(bytes)
        let count = held.body.readableBytes
        self.receivedBytes = count
        if let maxBody = self.judge.maxBody, count > maxBody {
            return self.settle(held, ResponseJudge.beyond(maxBody, held.head))
        }
        if let violation { return self.settle(held, violation) }
        if held.need == .firstByte { return self.judgeWhole(held) }
        guard self.reserve(count + (self.check?.memory ?? 0)) else { return self.goOnUnjudged(held, self.shortage) }
        if self.check != nil {
            if count > Self.reportWindow { return self.pass(held, held.violation) }
        } else if count > self.bodyBuffer {
            return self.settle(held, Self.unbuffered(held.head))
        }
        self.phase = .holding(held)
        return .wait
    }

    /// Keeps the trailers of a response that is held back.
    ///
    /// - Returns: whether it is.
    func keep(trailers: Fields) -> Bool {
        guard case .holding(var held) = self.phase else { return false }
        held.trailers = trailers
        self.phase = .holding(held)
        return true
    }

    /// Looks at the end of a response.
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

    /// Looks at some more of a body that unfolds to more than can be looked at in a turn.
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
            // Unless all of the body is here, the verdict comes with the rest.
            return self.hasEnded ? self.judgeWhole(held) : .wait
        case .passing:
            guard self.hasEnded else { return .forward(violation.map { [$0] } ?? []) }
            let last = violation ?? self.finishCheck()
            self.phase = .over
            return .finish(last)
        case .fresh, .judging, .over: preconditionFailure("BUG: a check goes on without a response")
        }
    }

    /// Ends it without a verdict.
    func stop() {
        self.endCheck()
        self.phase = .over
    }

    // MARK: Judging

    /// Judges a response as a whole, on any thread.
    static func judge(
        _ held: HeldResponse, by judge: ResponseJudge, within budget: WorkBudget
    ) -> (HeldResponse, ValidationError?) {
        var held = held
        do throws(ValidationError) {
            try judge.judge(&held, within: budget)
            return (held, nil)
        } catch {
            return (held, error)
        }
    }

    /// Judges a response of which everything is here that counts.
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
            // Behind what was judged by its first byte more may have come.
            if verdict.held.need == .whole { held = verdict.held }
            return self.settle(held, verdict.violation)
        case .memory, .cancelled: return self.goOnUnjudged(held, self.shortage)
        case .steps, .time:
            let message = "Request failed: to be judged the body \(interruption?.reason ?? "")"
            return self.settle(held, Self.violation(.responseBody, message, held.head))
        }
    }

    /// Goes on where no thread judges it.
    func notJudged(_ reason: String) -> Action {
        guard case .judging(let held) = self.phase else { preconditionFailure("BUG: nothing was to be judged") }
        return self.goOnUnjudged(held, reason)
    }

    /// Goes on with a response that there is no room to judge: it passes where violations are only reported.
    private func goOnUnjudged(_ held: HeldResponse, _ reason: String) -> Action {
        self.endCheck()
        guard self.judge.onViolation != .reject else {
            self.phase = .over
            return .refuse(reason)
        }
        return self.settle(held, Self.violation(.bodyTooLarge, reason, held.head))
    }

    /// - Parameter violation: found since the head was judged; what the head has violated is in `held`.
    private func settle(_ held: HeldResponse, _ violation: ValidationError?) -> Action {
        guard let violation = ValidationError.ordered([held.violation, violation]) else { return self.pass(held, nil) }
        self.endCheck()
        // Told once.
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

    /// - Returns: the violation that these bytes show, once.
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

    private static func unbuffered(_ head: ResponseHead) -> ValidationError {
        self.violation(.bodyTooLarge, "the route must see the whole body, and it is over limits.body_buffer", head)
    }
}
