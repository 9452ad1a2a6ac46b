// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// A value that one caller waits for, and that is given once.
final class OneShot<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case given(Value)
        case over
    }

    private let state = Locked(State.empty)

    /// True as soon as the value was given.
    var isGiven: Bool {
        self.state.withLock { state in
            switch state {
            case .empty, .waiting: false
            case .given, .over: true
            }
        }
    }

    /// Gives the value. Does nothing if one was given before.
    ///
    /// - Returns: true if this value counts.
    @discardableResult
    func give(_ value: Value) -> Bool {
        let (counts, waiting) = self.state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
            switch state {
            case .empty:
                state = .given(value)
                return (true, nil)
            case .waiting(let waiting):
                state = .over
                return (true, waiting)
            case .given, .over: return (false, nil)
            }
        }
        waiting?.resume(returning: value)
        return counts
    }

    /// Waits for the value. Called once.
    func value() async -> Value {
        await withCheckedContinuation { (waiting: CheckedContinuation<Value, Never>) in
            let value = self.state.withLock { state -> Value? in
                switch state {
                case .empty:
                    state = .waiting(waiting)
                    return nil
                case .given(let value):
                    // Taken out: a value that stayed here would never be released.
                    state = .over
                    return value
                case .waiting, .over: preconditionFailure("BUG: a value is waited for twice")
                }
            }
            if let value { waiting.resume(returning: value) }
        }
    }
}
