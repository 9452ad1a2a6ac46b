// SPDX-License-Identifier: Apache-2.0

/// A counter, by the name that logs and endpoints use. Violations are counted beside them, by kind.
package enum CounterName: String, Sendable, CaseIterable {
    case started
    case active
    case completed
    case failed
    case cancelled
    case bytesUp = "bytes_up"
    case bytesDown = "bytes_down"
    case pinFailures = "pin_failures"
    case certificatesRefused = "certificates_refused"
    case cacheHits = "cache_hits"
    case cacheMisses = "cache_misses"
    case coalesced
    case recordings
    case mocks
    case faults
    case recordingsLost = "recordings_lost"
    case tunnelsOpened = "tunnels_opened"
    case tunnelsActive = "tunnels_active"
}

/// A counter of the memory budget, which all routes share.
package enum MemoryCounterName: String, Sendable, CaseIterable {
    case held = "held_bytes"
    case peak = "held_bytes_peak"
    case refused = "held_bytes_refused"
}

/// A counter of questions about destinations, which all routes share.
package enum QuestionCounterName: String, Sendable, CaseIterable {
    case waiting = "questions_waiting"
    case once = "questions_once"
    case run = "questions_run"
    case denied = "questions_denied"
    case expired = "questions_expired"
    case withdrawn = "questions_withdrawn"
}

extension Counts {
    /// The value of one counter.
    package subscript(name: CounterName) -> Int {
        switch name {
        case .started: self.started
        case .active: self.active
        case .completed: self.completed
        case .failed: self.failed
        case .cancelled: self.cancelled
        case .bytesUp: self.bytesUp
        case .bytesDown: self.bytesDown
        case .pinFailures: self.pinFailures
        case .certificatesRefused: self.certificatesRefused
        case .cacheHits: self.cacheHits
        case .cacheMisses: self.cacheMisses
        case .coalesced: self.coalesced
        case .recordings: self.recordings
        case .mocks: self.mocks
        case .faults: self.faults
        case .recordingsLost: self.recordingsLost
        case .tunnelsOpened: self.tunnelsOpened
        case .tunnelsActive: self.tunnelsActive
        }
    }

    /// The counters by the names that logs and endpoints use, without ``violations``.
    package var named: [(name: String, value: Int)] { CounterName.allCases.map { ($0.rawValue, self[$0]) } }
}

extension MemoryBudget.Reading {
    /// The value of one counter.
    package subscript(name: MemoryCounterName) -> Int {
        switch name {
        case .held: self.held
        case .peak: self.peak
        case .refused: self.refusals
        }
    }
}

extension QuestionCounts {
    /// The value of one counter.
    package subscript(name: QuestionCounterName) -> Int {
        switch name {
        case .waiting: self.waiting
        case .once: self[end: .once]
        case .run: self[end: .run]
        case .denied: self[end: .denied]
        case .expired: self[end: .expired]
        case .withdrawn: self[end: .withdrawn]
        }
    }

    /// The counters by the names that logs and endpoints use.
    package var named: [(name: String, value: Int)] {
        QuestionCounterName.allCases.map { ($0.rawValue, self[$0]) }
    }
}
