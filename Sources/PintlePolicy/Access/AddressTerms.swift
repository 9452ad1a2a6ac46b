// SPDX-License-Identifier: Apache-2.0

internal import PintleSession

/// The circumstances that decide about the addresses of a host, besides the addresses themselves. Two hosts under equal terms are
/// judged alike at every address, but for the name of the rule where the decision on the name holds.
package struct AddressTerms: Hashable, Sendable {
    /// The decision on the name of the host, without the rule.
    enum Name: Hashable, Sendable { case denied, reported, allowed, asked, byAddress }

    let port: UInt16
    let client: ClientRights
    let name: Name
    /// True if a permission that says more than a port is for the name.
    let isListed: Bool
}

extension AddressTerms.Name {
    init(_ decision: DestinationDecision) {
        switch decision {
        case .denied, .prohibited: self = .denied
        case .reported: self = .reported
        case .allowed: self = .allowed
        case .asked: self = .asked
        case .byAddress: self = .byAddress
        }
    }
}
