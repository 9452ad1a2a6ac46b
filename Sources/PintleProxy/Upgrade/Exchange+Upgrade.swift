// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

// Requests that would turn their connection into something else (RFC 9110 §7.8), such as a WebSocket.
extension Exchange {
    /// What is offered to the origin. Where nothing may pass, the request goes on without its Upgrade: a server is free to
    /// ignore one.
    ///
    /// A stream has no content that a serializer could make, or a rule for bodies judge.
    var passingOffer: UpgradeOffer? {
        guard let offer, self.framing == .none, self.head.method != "HEAD", self.operation == nil,
            self.judge?.judgesHeadsOnly ?? true
        else { return nil }
        return offer
    }

    /// Sends the request on a connection of its own.
    func attempt(_ offer: UpgradeOffer, with request: TransferRequest, in session: Session) {
        guard self.connection.lane.census.enterTunnel(limit: self.gate.limits.tunnels) else {
            return self.refuse(Problem(.overloaded, "there are as many tunnels as limits.tunnels allows"))
        }
        self.report.holdsTunnel = true
        var request = request
        if let decision { request.way = self.gate.way(decision.way) }
        if let problem = self.gate.outlook.refusal(of: &request) { return self.refuse(problem) }
        let attempt = UpgradeAttempt(request, offering: offer, for: self)
        self.upgrade = attempt
        attempt.begin(in: session)
    }

    /// The origin switches: from here on there are only bytes.
    ///
    /// - Parameter early: what has come behind the head.
    func switchProtocols(_ head: ResponseHead, by attempt: UpgradeAttempt, early: ByteBuffer) {
        guard let accepted = self.offer?.accepted(by: head.fields) else {
            return self.refuse(Problem(.upstreamProtocol, "the origin switched to a protocol that it was not offered"))
        }
        var marks: [ViolationKind] = []
        if let violation = self.judge?.violation(of: head, length: nil) {
            guard self.judge?.onViolation == .report else {
                return self.settle(HeldResponse(head: head, length: nil, need: .nothing), violation)
            }
            self.report.violated(violation)
            marks = violation.kinds
        }
        guard let origin = attempt.release() else { return }
        self.forgetTransfer()
        var head = self.forwarded(head, marked: marks)
        head.fields.append("Connection", "Upgrade")
        head.fields.append("Upgrade", accepted)
        self.answer = .done
        self.report.status = head.status
        Tunnel.open(for: self, to: origin, early: early) { $0.writeInterim(head) }
    }
}
