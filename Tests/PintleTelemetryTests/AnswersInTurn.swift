// SPDX-License-Identifier: Apache-2.0

import PintleTesting

extension RawOrigin {
    /// Gives one answer after another, and the last one for ever.
    convenience init(answeringInTurn answers: String...) throws {
        let count = Watched(0)
        try self.init { connection in
            while true {
                _ = try connection.readRequest()
                let number = count.change { count in
                    defer { count += 1 }
                    return min(count, answers.count - 1)
                }
                try connection.send(answers[number])
            }
        }
    }
}
