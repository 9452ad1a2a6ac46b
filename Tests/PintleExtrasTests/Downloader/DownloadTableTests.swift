// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleSession
import PintleTesting
import Testing

/// The decisions of a downloader, without any transfer.
struct DownloadTableTests {
    private typealias Table = DownloadTable<String, String, String>

    private static func table(
        _ limit: Int, _ order: TransferQueue.Order = .firstInFirstOut, holding names: [String] = []
    ) -> Table {
        var table = Table(limit: limit, order: order)
        for name in names { _ = table.add(name, for: name, "who asks for \(name)") }
        return table
    }

    @Test func `IDL-17 so many are started, and the others wait`() {
        var table = Self.table(2)
        let starts = ["a", "b", "c", "d"].map { table.add($0, for: $0, "x").starts }
        #expect(starts == [true, true, false, false])
        #expect(table.startedCount == 2 && table.waitingCount == 2)
    }

    @Test(arguments: [
        (TransferQueue.Order.firstInFirstOut, ["c", "d"]), (.lastInFirstOut, ["d", "c"]),
    ])
    func `IDL-17 each end starts one, in the order of the downloader`(
        order: TransferQueue.Order, expected: [String]
    ) {
        var table = Self.table(1, order)
        let transfers = ["a", "c", "d"].map { table.add($0, for: $0, "x").place.transfer }
        var started = table.ended(transfers[0]).starting
        started += table.ended(transfers[order == .firstInFirstOut ? 1 : 2]).starting
        #expect(started == expected && table.startedCount == 1 && table.waitingCount == 0)
    }

    @Test func `IDL-04 who asks for the same key joins, and all are told in their order`() {
        var table = Self.table(1)
        #expect(table.join("a", "nobody") == nil)
        let first = table.add("one", for: "a", "first")
        let second = table.join("a", "second")
        let third = table.add("two", for: "a", "third")
        #expect(second?.work == "one" && second?.hasJoined == true && third.work == "one" && third.hasJoined)
        #expect(!third.starts && table.startedCount == 1 && table.waitingCount == 0)
        #expect(table.ended(first.place.transfer).handlers == ["first", "second", "third"])
        #expect(table.join("a", "late") == nil && table.startedCount == 0)
    }

    @Test func `IDL-15 without a key nobody joins`() {
        var table = Self.table(4)
        #expect(!table.add("one", for: nil, "x").hasJoined && !table.add("two", for: nil, "x").hasJoined)
        #expect(table.startedCount == 2)
    }

    @Test func `IDL-09 one who cancels leaves the others`() {
        var table = Self.table(1)
        let first = table.add("one", for: "a", "first").place
        let second = table.add("one", for: "a", "second").place
        #expect(table.work(at: second) == "one")
        guard case .left("second") = table.cancel(second) else {
            Issue.record("not the second")
            return
        }
        guard case .nobody = table.cancel(second) else {
            Issue.record("cancelled twice")
            return
        }
        #expect(table.work(at: second) == nil && table.isWanted(first.transfer))
        #expect(table.ended(first.transfer).handlers == ["first"])
    }

    @Test func `IDL-19 what nobody waits for any more is joined by nobody, and its end touches nobody`() {
        var table = Self.table(4)
        let old = table.add("old", for: "a", "first").place
        guard case .abandoned("first", "old") = table.cancel(old) else {
            Issue.record("not abandoned")
            return
        }
        #expect(!table.isWanted(old.transfer) && table.startedCount == 1)
        let new = table.add("new", for: "a", "second")
        #expect(!new.hasJoined && new.starts && table.startedCount == 2)
        #expect(table.ended(old.transfer).handlers.isEmpty)
        #expect(table.join("a", "third")?.work == "new")
        #expect(table.ended(new.place.transfer).handlers == ["second", "third"])
    }

    @Test func `IDL-20 one that is cancelled before its start never counted`() {
        var table = Self.table(1, holding: ["a"])
        let waiting = table.add("b", for: "b", "x").place
        _ = table.add("c", for: "c", "x")
        _ = table.cancel(waiting)
        #expect(table.startedCount == 1 && table.waitingCount == 1)
        let end = table.ended(waiting.transfer)
        #expect(end.handlers.isEmpty && end.starting.isEmpty && table.startedCount == 1 && table.waitingCount == 1)
    }

    @Test func `a transfer that ends before its turn tells who waited, and starts nothing`() {
        var table = Self.table(1, holding: ["a"])
        let waiting = table.add("b", for: "b", "x").place
        let end = table.ended(waiting.transfer)
        #expect(end.handlers == ["x"] && end.starting.isEmpty && table.startedCount == 1 && table.waitingCount == 0)
    }

    @Test(arguments: [TransferQueue.Order.firstInFirstOut, .lastInFirstOut], [1, 2, 3, 4, 5, 6, 7, 8])
    func `IDL-20 whatever happens the maximum holds and everybody is told once`(
        order: TransferQueue.Order, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var table = DownloadTable<Int, Int, Int>(limit: 3, order: order)
        var (places, started, told) = ([DownloadPlace](), [Int](), [DownloadPlace: Int]())
        // A request is known by its number until it has a place.
        var (asked, transfers) = ([Int: DownloadPlace](), [Int: Int]())
        func end(_ work: Int) {
            guard let transfer = transfers[work] else { return }
            let end = table.ended(transfer)
            for handler in end.handlers { if let place = asked[handler] { told[place, default: 0] += 1 } }
            started += end.starting
        }
        for number in 0..<300 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let admission = table.add(number, for: Int.random(in: 0..<8, using: &random), number)
                places.append(admission.place)
                asked[number] = admission.place
                if !admission.hasJoined { transfers[number] = admission.place.transfer }
                if admission.starts { started.append(number) }
            case 1:
                guard let place = places.randomElement(using: &random) else { continue }
                if case .nobody = table.cancel(place) { continue }
                told[place, default: 0] += 1
            default:
                // A transfer that was started ends at some time, whatever waits for it.
                guard let index = started.indices.randomElement(using: &random) else { continue }
                end(started.remove(at: index))
            }
            #expect(table.startedCount == started.count && started.count <= 3)
            #expect(table.waitingCount == 0 || started.count == 3)
        }
        while let work = started.popLast() { end(work) }
        #expect(told.count == places.count && told.values.allSatisfy { $0 == 1 })
        #expect(table.startedCount == 0 && table.waitingCount == 0)
    }
}
