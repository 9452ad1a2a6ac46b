// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleLoop
internal import PintleMessage

// Clients that must say who they are (`clients.basic_auth`).
extension Exchange {
    /// Begins the request where its client may use the proxy, now or when its password was checked, and refuses it
    /// otherwise.
    func admitClient() {
        guard let passwords = self.gate.passwords else { return self.beginAdmitted() }
        let lane = self.connection.lane
        let ticket = lane.wait(for: self)
        let answer = passwords.check(self.head.fields, of: self.connection.client) { isRight in
            lane.loop.execute { lane.resume(ticket)?.passwordWasChecked(isRight) }
        }
        if answer == .pending {
            self.awaitsAdmission = true
            return
        }
        _ = lane.resume(ticket)
        switch answer {
        case .right:
            self.noteUser()
            self.beginAdmitted()
        case .busy:
            self.refuse(
                Problem(.overloaded, "as many passwords wait to be checked as may, for this client or for all together")
            )
        case .wrong, .pending:
            self.refuse(passwords.refusal(hasTried: self.head.fields.contains(.proxyAuthorization)))
        }
    }

    private func passwordWasChecked(_ isRight: Bool) {
        self.awaitsAdmission = false
        // The client may have left in the meantime.
        guard case .none = self.answer, let passwords = self.gate.passwords else { return }
        if isRight {
            self.noteUser()
            self.beginAdmitted()
        } else {
            self.refuse(passwords.refusal(hasTried: true))
        }
        self.connection.resumeBody()
    }

    /// Notes in whose name the request is made; nobody's who has not proved to be that user.
    private func noteUser() {
        self.report.user = self.head.fields[.proxyAuthorization].flatMap(BasicCredentials.init)?.user
    }
}
