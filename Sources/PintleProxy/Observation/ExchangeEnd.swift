// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity

/// The end of an exchange; of one that still runs, as it would be now.
struct ExchangeEnd: BitwiseCopyable {
    let outcome: Outcome
    /// The duration.
    let nanoseconds: Int64
    /// The time of the end.
    let moment: Timestamp

    init(_ report: ExchangeReport, _ outcome: Outcome) {
        self.outcome = outcome
        self.nanoseconds = (NIODeadline.now() - report.start).nanoseconds
        self.moment = .now()
    }
}
