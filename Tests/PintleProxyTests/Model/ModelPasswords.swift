// SPDX-License-Identifier: Apache-2.0

import Dispatch
import PintleMessage

@testable import PintleProxy

extension PasswordCheck {
    /// Waits until what was asked about a password is answered, so that the exchange is told in the next turn.
    func settle(_ fields: Fields) {
        let isDone = DispatchSemaphore(value: 0)
        if case .pending = self.check(fields, of: CoursePlay.peer, completion: { _ in isDone.signal() }) {
            isDone.wait()
        }
    }
}
