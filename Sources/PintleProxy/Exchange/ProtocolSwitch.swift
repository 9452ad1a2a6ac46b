// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

extension ResponseHead {
    /// A head without framing as that of a 101.
    func switching(to accepted: String) -> ResponseHead {
        var head = self
        head.fields.append("Connection", "Upgrade")
        head.fields.append("Upgrade", accepted)
        return head
    }

    /// True for the 101 of an origin that switches to WebSocket (RFC 6455 §4.2.2).
    var switchesToWebSocket: Bool { self.fields.values(of: "Upgrade").contains { $0.lowercased() == "websocket" } }
}

/// The verdict on an origin that switches to another protocol (RFC 9110 §7.8).
enum ProtocolSwitch {
    /// The origin switches to this protocol. Its response may violate rules of the route that only report.
    case passes(String, ValidationError?)
    /// The response violates the route's rules.
    case violates(ValidationError)
    /// The protocol was not offered, or the response lacks a proof that the origin has understood; with a sentence about it.
    case refused(String)

    /// Evaluates the head of a 101.
    ///
    /// - Parameters:
    ///   - offer: the protocols that the origin may choose from.
    ///   - client: may check the fields with which the origin accepts.
    ///   - inspection: the inspection of the route, if it has rules for heads.
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
