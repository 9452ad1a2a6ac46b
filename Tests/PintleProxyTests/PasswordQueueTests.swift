// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintleSession
import PintleTesting
import Testing

@testable import PintlePolicy
@testable import PintleProxy

/// The order in which clients' passwords are checked.
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

/// State that remains after checks.
struct PasswordCheckTests {
    private static let user = "ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K"

    @Test func `LOOK-14 passwords that are refused for a full queue leave nothing with the threads`() async throws {
        let users = PasswordFile(Self.user) { Issue.record("\($0): \($1)") }
        let check = PasswordCheck(BasicAuthConfiguration(users: users))
        let (isOpen, told) = (Watched(false), Watched(0))
        let client = Client.address(IPAddress(v4: 1))
        /// Asks for new passwords; each result that is delivered holds up a thread until the end.
        func ask(_ numbers: Range<Int>) -> [PasswordCheck.Answer] {
            numbers.map { number in
                let credentials = Data("ben:\(number)".utf8).base64EncodedString()
                return check.check(["Proxy-Authorization": "Basic \(credentials)"], of: client) { _ in
                    told.change { $0 += 1 }
                    _ = try? isOpen.wait(for: "the end") { $0 }
                }
            }
        }
        let threads = max(1, Engine.availableProcessors / 2)
        #expect(ask(0..<threads).allSatisfy { $0 == .pending })
        try await told.reach("all threads") { $0 == threads }
        #expect(ask(1_000..<1_064).allSatisfy { $0 == .pending })
        #expect(ask(2_000..<3_000).allSatisfy { $0 == .busy })
        // All threads are held up, so this does not change now.
        let waiting = try #require(Mirror(reflecting: check).descendant("threads", "state", "waiting"))
        #expect(Mirror(reflecting: waiting).children.isEmpty)
        isOpen.change { $0 = true }
        try await told.reach("those that waited") { $0 == threads + 64 }
        // Their places are free again.
        #expect(ask(4_000..<4_064).allSatisfy { $0 == .pending })
        try await told.reach("the others") { $0 == threads + 128 }
    }
}
