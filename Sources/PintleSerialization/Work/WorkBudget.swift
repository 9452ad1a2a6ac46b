// SPDX-License-Identifier: Apache-2.0

/// Bounds one piece of work on bytes from outside: its steps, its time and its memory. It also stops work whose result is
/// no longer needed.
///
/// A step is an elementary operation of about 50 ns, such as applying one keyword of a schema to one value. Evaluators
/// spend steps before they work, reserve memory before they use it, and stop as soon as the budget says so. Their result is
/// meaningless then: the maker of the budget must check ``interruption`` before it uses the result. Only the maker deals
/// with threads and clocks.
package final class WorkBudget {
    /// The reason why work must stop.
    package enum Interruption: Sendable, Equatable {
        /// The work needs more than this number of steps.
        case steps(Int)
        /// The work has taken its maximum time.
        case time
        /// There is not enough memory for the work.
        case memory
        /// The result is no longer needed.
        case cancelled
    }

    /// Returns a reason outside the work why it must stop, or nil. Called once for every ``interval`` steps.
    package typealias Inspection = () -> Interruption?

    /// Reserves this number of bytes from the memory for all work, and returns true if they were available.
    package typealias Reservation = (Int) -> Bool

    /// The number of steps between two inspections: some tenths of a millisecond.
    package static let interval = 4096
    /// The maximum number of steps on an event loop before work moves elsewhere: under a millisecond, enough for most
    /// messages.
    package static let promptSteps = 2 * WorkBudget.interval
    /// The maximum size in bytes of a body that is worth a try on an event loop.
    package static let promptBytes = 32 * 1024

    /// The reason why the work must stop; nil if it may continue.
    package private(set) var interruption: Interruption?
    private let limit: Int
    private var spent = 0
    private var inspectedAt = 0
    private let inspection: Inspection?
    private let reservation: Reservation?

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - steps: the maximum number of steps.
    ///   - inspect: called at intervals to ask if the work must stop.
    ///   - reserve: called to reserve memory; nil for no limit.
    package init(steps: Int, inspect: Inspection? = nil, reserve: Reservation? = nil) {
        self.limit = steps
        self.inspection = inspect
        self.reservation = reserve
    }

    /// Makes a budget without limits, for work whose input is trusted or bounded by other means.
    package static var unlimited: WorkBudget { WorkBudget(steps: .max) }

    /// True if the work can be interrupted at all.
    package var isBounded: Bool { self.limit < .max || self.inspection != nil || self.reservation != nil }

    /// Spends steps.
    ///
    /// - Returns: true if the work may continue.
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

    /// Inspects the work now, for work with a cost that is known only afterwards. Returns true if it may continue.
    package func inspect() -> Bool {
        guard self.interruption == nil else { return false }
        self.interruption = self.inspection?()
        return self.interruption == nil
    }

    /// Reserves memory until the work is over.
    ///
    /// - Returns: true if the memory is available, and the work may continue.
    package func reserve(_ bytes: Int) -> Bool {
        guard self.interruption == nil else { return false }
        guard let reservation, bytes > 0, !reservation(bytes) else { return true }
        self.interruption = .memory
        return false
    }
}
