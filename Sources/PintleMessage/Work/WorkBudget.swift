// SPDX-License-Identifier: Apache-2.0

/// Bounds one piece of work on bytes that somebody else has sent: its steps, its time, its memory, and whether anybody still
/// waits for it.
///
/// A step is an elementary operation of some 50 ns, such as applying one keyword of a schema to one value. Evaluators spend
/// steps before they work, reserve memory before they take it, and stop as soon as they are told to. Their result is of no
/// worth then: who made the budget looks at ``interruption`` before it looks at the result. Threads and clocks are known to
/// the maker alone.
package final class WorkBudget {
    /// Why work must stop.
    package enum Interruption: Sendable, Equatable {
        /// It needs more than this many steps.
        case steps(Int)
        /// It has taken as much time as it may.
        case time
        /// There is no memory for it.
        case memory
        /// Nobody waits for it any more.
        case cancelled
    }

    /// Says whether work must stop for a reason that lies outside of it. Called once for every ``interval`` steps.
    package typealias Inspection = () -> Interruption?

    /// Takes this many bytes out of what all work may use, and says whether they were there.
    package typealias Reservation = (Int) -> Bool

    /// How many steps may pass between two inspections: some tenths of a millisecond.
    package static let interval = 4096
    /// The steps that are taken on a loop before work goes elsewhere: less than a millisecond, and enough for most messages.
    package static let promptSteps = 2 * WorkBudget.interval
    /// The longest body, in bytes, that is worth a try on a loop.
    package static let promptBytes = 32 * 1024

    /// Why the work must stop; nil as long as it may go on.
    package private(set) var interruption: Interruption?
    private let limit: Int
    private var spent = 0
    private var inspectedAt = 0
    private let inspection: Inspection?
    private let reservation: Reservation?

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - steps: at most so many.
    ///   - inspect: asked at intervals whether the work must stop.
    ///   - reserve: asked for memory; unless given there is as much as is wanted.
    package init(steps: Int, inspect: Inspection? = nil, reserve: Reservation? = nil) {
        self.limit = steps
        self.inspection = inspect
        self.reservation = reserve
    }

    /// Makes a budget that never ends, for work whose input is trusted or bounded by other means.
    package static var unlimited: WorkBudget { WorkBudget(steps: .max) }

    /// Whether work can be interrupted at all.
    package var isBounded: Bool { self.limit < .max || self.inspection != nil || self.reservation != nil }

    /// Spends steps.
    ///
    /// - Returns: whether the work may go on.
    package func spend(_ steps: Int) -> Bool {
        guard self.interruption == nil else { return false }
        let (sum, isBeyond) = self.spent.addingReportingOverflow(max(0, steps))
        self.spent = isBeyond ? .max : sum
        guard self.spent <= self.limit else {
            self.interruption = .steps(self.limit)
            return false
        }
        guard let inspection, self.spent - self.inspectedAt >= Self.interval else { return true }
        self.inspectedAt = self.spent
        self.interruption = inspection()
        return self.interruption == nil
    }

    /// Asks now whether the work may go on, for work whose cost is known only when it is done.
    package func inspect() -> Bool {
        guard self.interruption == nil else { return false }
        self.interruption = self.inspection?()
        return self.interruption == nil
    }

    /// Reserves memory until the work is over.
    ///
    /// - Returns: whether it is there, and the work may go on.
    package func reserve(_ bytes: Int) -> Bool {
        guard self.interruption == nil else { return false }
        guard let reservation, bytes > 0, !reservation(bytes) else { return true }
        self.interruption = .memory
        return false
    }
}
