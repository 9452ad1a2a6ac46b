// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleLoop
internal import PintleMessage

// Clients that must say who they are (`clients.basic_auth`).
extension Exchange {
    /// Whether the client is known, as far as it can be told at once. Where it cannot, the request waits.
    var isKnownClient: Bool {
        guard let doorkeeper = self.gate.doorkeeper else { return true }
        let lane = self.connection.lane
        let ticket = lane.wait(for: self)
        let glance = doorkeeper.look(at: self.head.fields) { isKnown in
            lane.loop.execute { lane.resume(ticket)?.admit(isKnown) }
        }
        if glance == .asking {
            self.awaitsAdmission = true
            return false
        }
        _ = lane.resume(ticket)
        switch glance {
        case .known:
            self.noteUser()
            return true
        case .busy: self.refuse(Problem(.overloaded, "too many passwords wait to be looked at"))
        case .unknown, .asking:
            self.refuse(doorkeeper.refusal(hasTried: self.head.fields.contains(.proxyAuthorization)))
        }
        return false
    }

    private func admit(_ isKnown: Bool) {
        self.awaitsAdmission = false
        // The client may have left in the meantime.
        guard case .none = self.answer, let doorkeeper = self.gate.doorkeeper else { return }
        if isKnown {
            self.noteUser()
            self.beginAdmitted()
        } else {
            self.refuse(doorkeeper.refusal(hasTried: true))
        }
        self.connection.resumeBody()
    }

    /// Notes in whose name the request is made; nobody's who has not proved to be that user.
    private func noteUser() {
        self.report.user = self.head.fields[.proxyAuthorization].flatMap(BasicCredentials.init)?.user
    }
}
