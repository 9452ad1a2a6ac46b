// SPDX-License-Identifier: Apache-2.0

/// When a set of pins expires, and what then.
public struct PinExpiry: Sendable, Hashable {
    /// What a policy does once its pins have expired.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// Refuses everybody: pins that nobody maintains are an error.
        case fail
        /// Reports a key that is not pinned, and lets it pass.
        case report
        /// Believes every valid chain, as if nothing were pinned. What the policy waives it waives no longer.
        case system
    }

    /// The first moment at which the pins no longer hold.
    public let moment: UnixTime
    /// What the policy does from then on.
    public let action: Action

    /// An end of a set of pins.
    public init(at moment: UnixTime, action: Action = .fail) {
        self.moment = moment
        self.action = action
    }
}
