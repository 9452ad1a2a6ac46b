// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleCache
internal import PintleMessage
internal import PintleSession

/// One request to an origin that equal requests wait for, on any loops (RFC 9111 §4, collapsed forwarding).
final class Flight: AnswerUnderWay {
    /// Where an answer comes from.
    enum Source: Sendable {
        /// From the origin, as it came.
        case origin
        /// From the store, after the origin has said that it still holds.
        case confirmed
        /// From the store, although it is stale, since the origin has failed.
        case stale
    }

    /// The origin's answer, as those take it who have waited for it.
    struct Answer: Sendable {
        /// As it came from the origin; after a validation the head that was stored, brought up to date.
        let head: ResponseHead
        let length: UInt64?
        /// The answer as the cache has it; nil where only who has asked for it may have it.
        let stored: StoredResponse?
        let body: SharedBody
        /// The status that the origin answered with.
        let upstreamStatus: UInt16
        let source: Source
        /// True where a store keeps it.
        let isKept: Bool
        /// The reason why it is not stored.
        let reason: Storability.Reason?
        /// The request that it answers.
        let request: RequestHead
        /// The Set-Cookie lines of a 304 to the owner's request: they are for that client alone.
        var cookies = Fields()
    }

    typealias Outcome = Result<Answer, SessionError>
    /// Told on any thread, with a place in the body; without one the answer is for somebody else.
    typealias Listener = @Sendable (Outcome, SharedBody.Reader?) -> Void

    /// The way into a flight.
    enum Boarding {
        /// The outcome is told later. The number is for who leaves before.
        case waiting(Int)
        /// The answer has begun to come.
        case late(Answer)
        /// It has ended, or is no answer for others.
        case gone
    }

    private struct State {
        var outcome: Outcome?
        var listeners: [Int: Listener] = [:]
        /// Zero is the number of who has caused the flight, whenever that one boards.
        var nextNumber = 1
        var isRevoked = false
        var isAsked = false
        /// Called, on any thread, when nobody waits or reads any more.
        var whenUnwanted: (@Sendable () -> Void)?
    }

    let key: CacheKey
    let number: UInt64
    private let state = NIOLockedValueBox(State())

    init(_ key: CacheKey, number: UInt64 = 0) { (self.key, self.number) = (key, number) }

    func outdate() { self.revoke() }

    /// Waits for the outcome, or tells that it is there.
    ///
    /// - Parameter isOwner: whether the flight is for this one's request, so that it may have what is not to be shared.
    func board(isOwner: Bool = false, _ listener: @escaping Listener) -> Boarding {
        self.state.withLockedValue { state in
            switch state.outcome {
            case nil: break
            case .success(let answer)? where answer.stored != nil && !state.isRevoked: return .late(answer)
            case .success?, .failure?: return .gone
            }
            let number = isOwner ? 0 : state.nextNumber
            if !isOwner { state.nextNumber += 1 }
            state.listeners[number] = listener
            return .waiting(number)
        }
    }

    /// Waits no longer.
    func leave(_ number: Int) {
        let whenUnwanted = self.state.withLockedValue { state in
            state.listeners[number] = nil
            return state.listeners.isEmpty && state.outcome == nil ? state.whenUnwanted : nil
        }
        whenUnwanted?()
    }

    /// Reads no longer.
    func close(_ reader: SharedBody.Reader, of body: SharedBody) {
        if body.close(reader) { self.state.withLockedValue { $0.whenUnwanted }?() }
    }

    /// Tells everybody, in the order in which they have come. Only the owner gets what others may not have.
    ///
    /// - Returns: whether somebody reads the answer.
    @discardableResult
    func land(_ outcome: Outcome) -> Bool {
        let listeners = self.state.withLockedValue { state in
            precondition(state.outcome == nil, "BUG: a flight lands twice")
            state.outcome = outcome
            defer { state.listeners = [:] }
            return state.listeners.sorted { $0.key < $1.key }
        }
        // All have their places before the first one begins to read.
        var isRead = false
        let calls = listeners.map { number, listener in
            let reader = (try? outcome.get()).flatMap { $0.stored != nil || number == 0 ? $0.body.open() : nil }
            isRead = isRead || reader != nil
            return (listener, reader)
        }
        for (listener, reader) in calls { listener(outcome, reader) }
        return isRead
    }

    /// True where nobody waits for the outcome.
    var isUnwanted: Bool { self.state.withLockedValue { $0.listeners.isEmpty } }

    /// - Parameter whenUnwanted: called, on any thread, each time that nobody waits or reads any more.
    func watch(whenUnwanted: (@Sendable () -> Void)?) {
        self.state.withLockedValue { $0.whenUnwanted = whenUnwanted }
    }

    /// Notes that the origin is asked.
    func noteAsked() { self.state.withLockedValue { $0.isAsked = true } }

    /// False while the request waits for its turn.
    var isAsked: Bool { self.state.withLockedValue { $0.isAsked } }

    /// Has nothing of it stored, nor given to who comes later: it may be out of date.
    func revoke() { self.state.withLockedValue { $0.isRevoked = true } }

    /// The surrogate keys of the answer, where it has come.
    var tags: [String] {
        self.state.withLockedValue { (try? $0.outcome?.get())?.stored?.tags ?? [] }
    }

    var isRevoked: Bool { self.state.withLockedValue { $0.isRevoked } }
}
