// SPDX-License-Identifier: Apache-2.0

/// The moment at which a set of pins expires, and the policy's action from then on.
public struct PinExpiry: Sendable, Hashable {
    /// The action of a policy once its pins have expired.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// Refuses every peer: pins that are no longer maintained are an error.
        case fail
        /// Reports a key that is not pinned, and lets it pass.
        case report
        /// Accepts every valid chain, as if nothing were pinned. Problems that the policy waives are no longer waived.
        case system
    }

    /// The first moment at which the pins no longer hold.
    public let moment: UnixTime
    /// The action of the policy from then on.
    public let action: Action

    /// Makes the end of a set of pins.
    public init(at moment: UnixTime, action: Action = .fail) {
        self.moment = moment
        self.action = action
    }
}
