// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

@testable import PintleProxy

/// Whose password is checked next.
struct PasswordQueueTests {
    private let attacker = Client.address(IPAddress(v4: 1))
    private let other = Client.address(IPAddress(v4: 2))
    private let user = Client.address(IPAddress(v4: 3))

    @Test func `LOOK-14 whoever tries many passwords waits for himself`() {
        var queue = PasswordQueue<String>()
        var isTaken: [Bool] = []
        for number in 0..<65 { isTaken.append(queue.append("wrong \(number)", of: self.attacker, isProven: false)) }
        #expect(isTaken == Array(repeating: true, count: 64) + [false])
        #expect(queue.append("right", of: self.other, isProven: false) == true)
        #expect(queue.popFirst() == "wrong 0")
        #expect(queue.popFirst() == "right")
        #expect(queue.popFirst() == "wrong 1" && queue.count == 62)
    }

    @Test func `LOOK-14 clients that have shown a right password go first, but not always`() {
        var queue = PasswordQueue<String>()
        for number in 0..<3 { #expect(queue.append("a\(number)", of: self.attacker, isProven: false) == true) }
        for number in 0..<5 { #expect(queue.append("u\(number)", of: self.user, isProven: true) == true) }
        var order: [String] = []
        while let job = queue.popFirst() { order.append(job) }
        #expect(order == ["u0", "u1", "u2", "a0", "u3", "u4", "a1", "a2"] && queue.count == 0)
    }

    @Test func `LOOK-14 a queue that many clients have filled takes those that have shown a right password`() {
        var queue = PasswordQueue<Int>()
        for number in 0..<1024 {
            #expect(
                queue.append(number, of: .address(IPAddress(v4: UInt32(100 + number / 60))), isProven: false) == true)
        }
        #expect(queue.append(-1, of: self.other, isProven: false) == false)
        #expect(queue.append(-2, of: self.user, isProven: true) == true)
        #expect(queue.popFirst() == -2)
    }
}
