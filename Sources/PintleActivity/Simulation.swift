// SPDX-License-Identifier: Apache-2.0

/// The kinds of answers that stand in the place of an origin's. Clients find the raw value in `Pintle-Simulated`.
package enum Simulation: String, BitwiseCopyable, Sendable, CaseIterable {
    /// An answer that an origin gave earlier.
    case recording
    /// An answer from the configuration, or from an API contract.
    case mock
    /// A failure that was asked for.
    case fault

    /// Nil for sources that are real.
    package init?(_ source: ExchangeRecord.Source?) {
        switch source {
        case .recording: self = .recording
        case .mock: self = .mock
        case .fault: self = .fault
        case .origin, .cache, .pintle, nil: return nil
        }
    }

    /// The source in records.
    package var source: ExchangeRecord.Source {
        switch self {
        case .recording: .recording
        case .mock: .mock
        case .fault: .fault
        }
    }
}
