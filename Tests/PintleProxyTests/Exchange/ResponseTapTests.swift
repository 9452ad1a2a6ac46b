// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import Testing

@testable import PintleProxy

/// Copies of bodies that an observer gets, within its budget.
struct ResponseTapTests {
    private let observer = ExchangeObserver { _ in }

    private func tap(_ type: String, status: UInt16 = 200, to method: String = "GET") -> ObservedTap {
        ObservedTap(ResponseHead(status: status, fields: ["Content-Type": type]), to: method, for: self.observer)
    }

    private func give(_ count: Int, to tap: ObservedTap) {
        let piece = [UInt8](repeating: 0x20, count: count)
        piece.withUnsafeBytes { tap.take($0) }
    }

    private var held: Int { self.observer.budget.read().held }

    @Test func `JSON is kept until nobody holds it any more`() throws {
        do {
            let tap = self.tap("Application/Problem+JSON; charset=utf-8")
            #expect(tap.wantsBody)
            self.give(5000, to: tap)
            self.give(5000, to: tap)
            let response = tap.finish()
            guard case .kept(let body) = response.body else {
                Issue.record("\(response)")
                return
            }
            #expect(body.bytes.count == 10_000 && response.contentTypes == ["application/problem+json"])
            #expect(self.held == 10_000)
        }
        #expect(self.held == 0)
    }

    @Test func `other bodies, and answers without one, are not kept`() {
        #expect(!self.tap("text/html").wantsBody)
        #expect(!self.tap("application/json", status: 204).wantsBody)
        let head = self.tap("application/json", to: "HEAD")
        #expect(!head.wantsBody && head.finish().isBodiless)
    }

    @Test func `what is too long is given up at once`() {
        let tap = self.tap("application/json")
        self.give(ExchangeObserver.longestBody, to: tap)
        #expect(self.held == ExchangeObserver.longestBody)
        self.give(1, to: tap)
        #expect(self.held == 0 && !tap.wantsBody)
        if case .tooLong = tap.finish().body {} else { Issue.record("a body of any length is kept") }
    }

    @Test func `all bodies together have their limit, and an abandoned one is given back`() {
        let most = ExchangeObserver.mostKept / ExchangeObserver.longestBody
        var taps = (0..<most).map { _ in self.tap("application/json") }
        for tap in taps { self.give(ExchangeObserver.longestBody, to: tap) }
        let late = self.tap("application/json")
        self.give(1, to: late)
        if case .noRoom = late.finish().body {} else { Issue.record("there is room for more") }
        taps.removeAll()
        #expect(self.held == 0)
    }
}
