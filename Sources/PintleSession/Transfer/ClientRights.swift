// SPDX-License-Identifier: Apache-2.0

/// The rules for certain clients that hold for the client of a transfer, as far as they decide about addresses.
///
/// An address is judged for them when it is dialled; so a connection carries only transfers with the same rights as the one that
/// it was made for.
package struct ClientRights: Hashable, Sendable {
    /// The numbers of the rules, ascending; only the judge of addresses knows their meaning.
    package let rules: [Int]

    /// - Parameter rules: ascending.
    package init(rules: [Int]) { self.rules = rules }

    /// Those of every client, if no rule is for certain clients.
    package static let none = ClientRights(rules: [])
}
