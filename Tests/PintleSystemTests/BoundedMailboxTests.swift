// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleSystem
import Testing

@Suite struct BoundedMailboxTests {
    private func isReadable(_ mailbox: BoundedMailbox<Int>) -> Bool {
        var place = pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&place, 1, 0) == 1
    }

    @Test func `what is put is taken in its order, and wakes the taker until then`() throws {
        let mailbox = try BoundedMailbox<Int>(elements: 10, bytes: 100)
        #expect(!self.isReadable(mailbox))
        for number in 0..<3 { mailbox.put(number, bytes: 1) }
        #expect(self.isReadable(mailbox))
        let (elements, lost) = mailbox.take()
        #expect(elements == [0, 1, 2] && lost == 0)
        #expect(!self.isReadable(mailbox))
        mailbox.put(3, bytes: 1)
        #expect(self.isReadable(mailbox))
        #expect(mailbox.take().elements == [3])
    }

    @Test func `what there is no room for is lost and counted`() throws {
        let mailbox = try BoundedMailbox<Int>(elements: 3, bytes: 100)
        for number in 0..<5 { mailbox.put(number, bytes: 10) }
        var taken = mailbox.take()
        #expect(taken.elements == [0, 1, 2] && taken.lost == 2)
        // One alone may be larger than all room.
        mailbox.put(5, bytes: 1000)
        mailbox.put(6, bytes: 1)
        taken = mailbox.take()
        #expect(taken.elements == [5] && taken.lost == 1)
        #expect(mailbox.take().lost == 0)
    }

    @Test func `threads that put and one that takes lose nothing without notice`() async throws {
        let mailbox = try BoundedMailbox<Int>(elements: 50, bytes: 1 << 20)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<5000 { mailbox.put(number, bytes: 8) }
                    return 5000
                }
            }
            var (seen, put) = (0, 0)
            func take() {
                let (elements, lost) = mailbox.take()
                seen += elements.count + lost
            }
            for await count in group {
                put += count
                take()
            }
            take()
            #expect(seen == put)
        }
    }
}
