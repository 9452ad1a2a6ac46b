// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleTesting
import Testing

@testable import PintleSession

/// Lookups of names: their number at a time, and the clients that get them.
struct NameLookupTests {
    private let a = TransferClient(0, 1)
    private let b = TransferClient(0, 2)

    @Test func `LOOK-12 a client has half of the threads at most, and others have theirs`() {
        var table = LookupTable<Int>()
        for number in 0..<32 { #expect(table.add("a\(number)", for: self.a, number) == .starts) }
        #expect(
            table.add("a", for: self.a, 0)
                == .refused("32 names are being looked up for this client, which is the most at a time"))
        #expect(table.add("a7", for: self.a, 100) == .waits, "what is being looked up costs nothing")
        #expect(table.add("b", for: self.b, 0) == .starts && table.count == 33)
        #expect(table.finish("a7").0 == [7, 100])
        #expect(table.add("a", for: self.a, 0) == .starts)
    }

    @Test func `LOOK-12 lookups beyond the threads wait in their order, and those beyond the limit are refused`() {
        var table = LookupTable<Int>()
        var outcomes: [LookupTable<Int>.Outcome] = []
        for number in 0..<513 {
            outcomes.append(table.add("\(number)", for: TransferClient(1, UInt64(number / 30)), number))
        }
        #expect(outcomes[..<64].allSatisfy { $0 == .starts } && outcomes[64..<512].allSatisfy { $0 == .waits })
        #expect(outcomes[512] == .refused("512 names are being looked up, which is the most at a time"))
        for number in 0..<512 {
            let (completions, next) = table.finish("\(number)")
            #expect(completions == [number] && next == (number + 64 < 512 ? "\(number + 64)" : nil))
        }
        #expect(table.count == 0 && table.add("x", for: nil, 0) == .starts)
    }

    @Test func `LOOK-12 a name that is being looked up is not looked up twice`() throws {
        let (asked, mayAnswer) = (Watched<[String]>([]), Watched(false))
        let address = try SocketAddress(ipAddress: "192.0.2.1", port: 0)
        let lookups = NameLookups { name in
            asked.change { $0.append(name) }
            _ = try? mayAnswer.wait(for: "leave to answer") { $0 }
            return .success([address])
        }
        let answers = Watched(0)
        for _ in 0..<100 {
            let refusal = lookups.begin("one.test", for: self.a) { answer in
                if case .success([address]) = answer { answers.change { $0 += 1 } }
            }
            #expect(refusal == nil)
        }
        #expect(lookups.count == 1)
        mayAnswer.change { $0 = true }
        try answers.wait(for: "all answers") { $0 == 100 }
        #expect(asked.current == ["one.test"])
    }
}
