// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// The verdict on an origin that switches to another protocol (RFC 9110 §7.8).
enum ProtocolSwitch {
    /// It switches to this protocol. The answer may violate the route's rules, which then only report.
    case passes(String, ValidationError?)
    /// The answer violates the route's rules.
    case violates(ValidationError)
    /// It was not asked for what it switches to, or does not show that it has understood; the sentence says how.
    case refused(String)

    /// Judges the head of a 101.
    ///
    /// - Parameters:
    ///   - offer: the protocols that the origin may choose from.
    ///   - client: may know of what the origin has to answer.
    ///   - inspection: of the route, where it has rules for heads.
    init(
        _ head: ResponseHead, offered offer: UpgradeOffer?, to client: any ClientStream,
        _ inspection: ResponseInspection?
    ) {
        guard let accepted = offer?.accepted(by: head.fields) else {
            self = .refused("the origin switched to a protocol that it was not offered")
            return
        }
        if let objection = client.objection(toSwitch: head) {
            self = .refused(objection)
            return
        }
        switch inspection?.receive(switching: head) {
        case .pass(_, let violation)?: self = .passes(accepted, violation)
        case .reject(let violation)?: self = .violates(violation)
        case nil: self = .passes(accepted, nil)
        default: preconditionFailure("BUG: a response without a body waits for one")
        }
    }
}
