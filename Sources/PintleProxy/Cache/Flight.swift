// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleCache
internal import PintleMessage
internal import PintleSession

/// One request to an origin that identical requests wait for, on any event loop (RFC 9111 §4, collapsed forwarding).
final class Flight: AnswerUnderWay {
    /// The source of a response.
    enum Source: Sendable {
        /// From the origin, unchanged.
        case origin
        /// From the store, after the origin has confirmed it.
        case confirmed
        /// From the store although it is stale, because the origin has failed.
        case stale
    }

    /// The origin's response, as the waiting requests get it.
    struct Answer: Sendable {
        /// The head from the origin; after a validation, the updated stored head.
        let head: ResponseHead
        let length: UInt64?
        /// The response in its cached form; nil if only the request that caused it may have it.
        let stored: StoredResponse?
        let body: SharedBody
        /// The status of the origin's response.
        let upstreamStatus: UInt16
        let source: Source
        /// True if the store keeps it.
        let isKept: Bool
        /// The reason why it is not stored, if so.
        let reason: Storability.Reason?
        /// The request that it answers.
        let request: RequestHead
        /// The Set-Cookie lines of a 304 response to the owner's request, for the owner's client alone.
        var cookies = Fields()
    }

    typealias Outcome = Result<Answer, SessionError>
    /// Called on any thread. The reader is nil if this listener must not use the response.
    typealias Listener = @Sendable (Outcome, SharedBody.Reader?) -> Void

    /// The result of joining a flight.
    enum Boarding {
        /// The outcome follows later. The number is needed to leave before that.
        case waiting(Int)
        /// The response has begun to arrive.
        case late(Answer)
        /// The flight has failed, or its response must not be shared.
        case gone
    }

    private struct State {
        var outcome: Outcome?
        var listeners: [Int: Listener] = [:]
        /// Number 0 is that of the owner, whenever it joins.
        var nextNumber = 1
        var isRevoked = false
        var isAsked = false
        /// Called on any thread when no listener and no reader is left.
        var whenUnwanted: (@Sendable () -> Void)?
    }

    let key: CacheKey
    let number: UInt64
    private let state = NIOLockedValueBox(State())

    init(_ key: CacheKey, number: UInt64 = 0) { (self.key, self.number) = (key, number) }

    func outdate() { self.revoke() }

    /// Joins the flight: waits for the outcome, or returns the one that is there.
    ///
    /// - Parameter isOwner: true for the request that caused the flight; it may also get a response that must not be shared.
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

    /// Stops waiting.
    func leave(_ number: Int) {
        let whenUnwanted = self.state.withLockedValue { state in
            state.listeners[number] = nil
            return state.listeners.isEmpty && state.outcome == nil ? state.whenUnwanted : nil
        }
        whenUnwanted?()
    }

    /// Stops reading.
    func close(_ reader: SharedBody.Reader, of body: SharedBody) {
        if body.close(reader) { self.state.withLockedValue { $0.whenUnwanted }?() }
    }

    /// Ends the flight, and notifies the listeners in the order in which they joined. Only the owner gets a response that must
    /// not be shared.
    ///
    /// - Returns: true if the response has a reader.
    @discardableResult
    func land(_ outcome: Outcome) -> Bool {
        let listeners = self.state.withLockedValue { state in
            precondition(state.outcome == nil, "BUG: a flight lands twice")
            state.outcome = outcome
            defer { state.listeners = [:] }
            return state.listeners.sorted { $0.key < $1.key }
        }
        // All readers are open before the first one begins to read.
        var isRead = false
        let calls = listeners.map { number, listener in
            let reader = (try? outcome.get()).flatMap { $0.stored != nil || number == 0 ? $0.body.open() : nil }
            isRead = isRead || reader != nil
            return (listener, reader)
        }
        for (listener, reader) in calls { listener(outcome, reader) }
        return isRead
    }

    /// True if no listener waits for the outcome.
    var isUnwanted: Bool { self.state.withLockedValue { $0.listeners.isEmpty } }

    /// - Parameter whenUnwanted: called on any thread, each time that no listener or no reader is left.
    func watch(whenUnwanted: (@Sendable () -> Void)?) {
        self.state.withLockedValue { $0.whenUnwanted = whenUnwanted }
    }

    /// Notes that the request is sent to the origin.
    func noteAsked() { self.state.withLockedValue { $0.isAsked = true } }

    /// False while the request waits for its turn.
    var isAsked: Bool { self.state.withLockedValue { $0.isAsked } }

    /// Revokes the response, which may be out of date: it is neither stored nor given to later requests.
    func revoke() { self.state.withLockedValue { $0.isRevoked = true } }

    /// The surrogate keys of the response; empty before it has arrived.
    var tags: [String] {
        self.state.withLockedValue { (try? $0.outcome?.get())?.stored?.tags ?? [] }
    }

    var isRevoked: Bool { self.state.withLockedValue { $0.isRevoked } }
}
