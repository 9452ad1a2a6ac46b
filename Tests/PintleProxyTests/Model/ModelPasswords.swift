// SPDX-License-Identifier: Apache-2.0

import Dispatch
import PintleMessage

@testable import PintleProxy

extension PasswordCheck {
    /// Has the right password known, so that it is found right at once in each course.
    func learn() throws {
        var request = Course.Request(kind: .get)
        request.password = .right
        let isLearnt = DispatchSemaphore(value: 0)
        let answer = self.check(try request.head(token: 0, folder: "c").fields, of: ModelLane.peer) { _ in
            isLearnt.signal()
        }
        if case .pending = answer { isLearnt.wait() }
    }
}
