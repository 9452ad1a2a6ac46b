// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleSession

/// The order in which clients get connections to a host.
struct HostConnectionsTests {
    private let a = TransferClient(0, 1)
    private let b = TransferClient(0, 2)
    private let c = TransferClient(0, 3)

    /// Gives a connection back, and returns the tickets that get one by it.
    private func giveBack(to host: inout HostConnections<Int>, of client: TransferClient?) -> [Int] {
        host.giveBack(of: client)
        var next: [Int] = []
        while let ticket = host.next(unlimited: false) { next.append(ticket) }
        return next
    }

    @Test func `LOOK-13 transfers beyond the limit wait, and get connections in their order`() {
        var host = HostConnections<Int>(limit: 2)
        var taken: [Bool] = []
        for number in 0..<5 { taken.append(host.take(number, for: nil)) }
        #expect(taken == [true, true, false, false, false])
        host.remove(3)
        #expect(self.giveBack(to: &host, of: nil) == [2])
        #expect(self.giveBack(to: &host, of: nil) == [4])
        #expect(self.giveBack(to: &host, of: nil) == [] && self.giveBack(to: &host, of: nil) == [])
        #expect(host.take(5, for: nil) == true && host.take(6, for: nil) == true && host.take(7, for: nil) == false)
    }

    @Test func `LOOK-13 a client with every connection keeps nobody else waiting, and gets no more while others wait`()
    {
        var host = HostConnections<Int>(limit: 4)
        for number in 0..<4 { #expect(host.take(number, for: self.a) == true, "alone it may have them all") }
        #expect(host.take(10, for: self.a) == false)
        // Two of a's four are beyond its half.
        #expect(host.take(20, for: self.b) == true)
        #expect(host.take(21, for: self.b) == true)
        #expect(host.take(22, for: self.b) == false)
        #expect(host.take(30, for: self.c) == false)
        // The connections that a has beyond its half are not given to a again; then clients with less than half get them,
        // in order.
        #expect(self.giveBack(to: &host, of: self.a) == [] && self.giveBack(to: &host, of: self.a) == [])
        #expect(self.giveBack(to: &host, of: self.a) == [10])
        #expect(self.giveBack(to: &host, of: self.a) == [30])
        #expect(self.giveBack(to: &host, of: self.c) == [22], "nobody has less than half any more, and b has waited")
    }

    @Test func `LOOK-13 with one connection clients take turns in their order`() {
        var host = HostConnections<Int>(limit: 1)
        #expect(host.take(0, for: self.a) == true)
        #expect(host.take(1, for: self.a) == false)
        #expect(host.take(2, for: self.b) == false)
        #expect(self.giveBack(to: &host, of: self.a) == [1])
        #expect(self.giveBack(to: &host, of: self.a) == [2])
    }

    @Test func `LOOK-93 a ticket costs the same however many wait before it, and in whatever order they leave`() {
        var host = HostConnections<Int>(limit: 64)
        let count = 40_000
        for number in 0..<count where host.take(number, for: self.a) != (number < 64) { Issue.record("\(number)") }
        // The last ones leave first; that one does not wait any more changes nothing.
        for number in stride(from: count - 1, through: count / 2, by: -1) { host.remove(number) }
        host.remove(count - 1)
        var next: [Int] = []
        while next.count < count / 2 - 64 {
            let tickets = self.giveBack(to: &host, of: self.a)
            guard !tickets.isEmpty else { break }
            next += tickets
        }
        #expect(next == Array(64..<count / 2))
        #expect(host.compared <= 4 * count, "\(host.compared)")
    }

    @Test func `LOOK-13 the number of connections has a bound whatever clients do`() {
        var random = SeededGenerator(seed: 13)
        var host = HostConnections<Int>(limit: 8)
        var clients: [Int: TransferClient] = [:]
        var (given, waiting): (Set<Int>, Set<Int>) = ([], [])
        for number in 0..<20_000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let client = TransferClient(0, UInt64.random(in: 0..<4, using: &random))
                clients[number] = client
                if host.take(number, for: client) { given.insert(number) } else { waiting.insert(number) }
            case 2:
                guard let one = given.min(), let client = clients[one] else { continue }
                given.remove(one)
                let next = self.giveBack(to: &host, of: client)
                #expect(waiting.isSuperset(of: next))
                waiting.subtract(next)
                given.formUnion(next)
            default:
                guard let one = waiting.min() else { continue }
                waiting.remove(one)
                host.remove(one)
            }
            #expect(given.count <= 12)
            // No connection stays free while a client waits.
            #expect(waiting.isEmpty || given.count >= 8)
        }
        while let one = given.first, let client = clients[one] {
            given.remove(one)
            given.formUnion(self.giveBack(to: &host, of: client))
        }
        #expect((0..<12).count { host.take($0, for: TransferClient(1, UInt64($0))) } == 8, "all are free again")
    }
}
