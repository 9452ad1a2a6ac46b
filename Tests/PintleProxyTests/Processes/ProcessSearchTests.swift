// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleTesting
import Testing

@testable import PintleProxy

/// The searches that wait for one thread.
struct ProcessSearchTests {
    /// The passes over the processes that a test allows, and those that were made.
    private final class Passes: Sendable {
        let allowed = Watched(0)
        let made = Watched<[[ClientProcess.Trace]]>([])

        /// Does a pass once the test allows it.
        func locate(_ traces: [ClientProcess.Trace]) -> [ProcessSearch.Outcome] {
            self.made.change { $0.append(traces) }
            do {
                let number = self.made.current.count
                try self.allowed.wait(for: "pass \(number)") { $0 >= number }
            } catch {
                Issue.record(error)
            }
            return traces.map { trace in
                guard case .process(let number) = trace, number > 0 else { return .missing }
                return .found(ExchangeRecord.Process(name: "p\(number)", number: number))
            }
        }
    }

    private let passes = Passes()

    private func search(mostWaiting: Int = 1024) -> ProcessSearch {
        ProcessSearch(mostWaiting: mostWaiting) { [passes] in passes.locate($0) }
    }

    private func wait(for search: ProcessSearch, until isReached: @escaping (ProcessSearch.Counts) -> Bool) throws {
        try Patience.wait(for: "the searches") { isReached(search.counts) }
    }

    @Test func `a connection is searched for once, and all its exchanges show the process`() throws {
        let search = self.search()
        self.passes.allowed.change { $0 = 10 }
        let process = ClientProcess(.process(7))
        let copy = process
        #expect(process.found == nil)
        for _ in 0..<3 { process.seek(by: search) }
        try self.wait(for: search) { $0.found == 1 }
        copy.seek(by: search)
        #expect(copy.found == ExchangeRecord.Process(name: "p7", number: 7))
        let other = ClientProcess(.process(-1))
        other.seek(by: search)
        try self.wait(for: search) { $0.missing == 1 }
        #expect(other.found == nil && self.passes.made.current.joined().count == 2)
    }

    @Test func `searches that come during a pass share the next one`() throws {
        let search = self.search()
        let processes = (1...100).map { ClientProcess(.process($0)) }
        processes[0].seek(by: search)
        try self.passes.made.wait(for: "the first pass") { $0.count == 1 }
        for process in processes.dropFirst() { process.seek(by: search) }
        self.passes.allowed.change { $0 = 2 }
        try self.wait(for: search) { $0.found == 100 }
        #expect(self.passes.made.current.map(\.count) == [1, 99])
        #expect(processes.map { $0.found?.number } == (1...100).map { $0 })
    }

    @Test func `searches beyond the limit are dropped and counted, and later ones are made`() throws {
        let search = self.search(mostWaiting: 4)
        ClientProcess(.process(1)).seek(by: search)
        try self.passes.made.wait(for: "the first pass") { $0.count == 1 }
        let processes = (2...11).map { ClientProcess(.process($0)) }
        for process in processes { process.seek(by: search) }
        #expect(search.counts == ProcessSearch.Counts(dropped: 6))
        self.passes.allowed.change { $0 = 10 }
        try self.wait(for: search) { $0.found == 5 }
        #expect(processes.map { $0.found?.number } == [2, 3, 4, 5] + Array(repeating: nil, count: 6))
        ClientProcess(.process(12)).seek(by: search)
        try self.wait(for: search) { $0 == ProcessSearch.Counts(found: 6, dropped: 6) }
    }
}

extension ProcessSearch.Counts {
    fileprivate init(found: Int = 0, missing: Int = 0, dropped: Int = 0) {
        self.init()
        (self.found, self.missing, self.dropped) = (found, missing, dropped)
    }
}
