// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import PintleProxy

/// The memory of bodies under way, and of those that are read on after they have gone.
struct BodyBudgetTests {
    private let budget = BodyBudget(most: 1000)

    @Test func `memory is set apart until the last reference goes`() throws {
        var first = self.budget.share(600, of: 1000)
        #expect(first?.count == 600 && self.budget.usage == 600 && self.budget.share(500, of: 1000) == nil)
        let second = try #require(self.budget.share(300, of: 900))
        first?.shrink(to: 100)
        // The share does not grow again.
        first?.shrink(to: 500)
        #expect(self.budget.usage == 400)
        first = nil
        #expect(self.budget.usage == 300)
        withExtendedLifetime(second) {}
    }

    @Test func `a body has its share until nobody has it, and no more of it than it needs`() {
        var body: SharedBody? = SharedBody(limit: 900, in: self.budget.share(900, of: 1000))
        _ = body?.append(ByteBuffer(repeating: 1, count: 200))
        #expect(self.budget.usage == 900)
        body?.finish(nil)
        #expect(self.budget.usage == 200)
        body = nil
        #expect(self.budget.usage == 0)
    }

    @Test func `what is read after it has gone from memory counts, though it be too much`() {
        var body: SharedBody? = SharedBody(whole: [ByteBuffer(repeating: 1, count: 5000)])
        for _ in 0..<2 { body?.leaveMemory(for: self.budget) }
        #expect(self.budget.usage == 5000 && self.budget.share(1, of: 1000) == nil)
        body = nil
        #expect(self.budget.usage == 0 && self.budget.share(1, of: 1000) != nil)
    }
}
