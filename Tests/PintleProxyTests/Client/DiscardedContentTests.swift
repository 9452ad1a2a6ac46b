// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import PintleProxy

/// The bounds of content that is dropped, by a clock that the tests hold.
struct DiscardedContentTests {
    private static func at(_ second: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(second) * 1_000_000_000) }

    @Test func `a client that sends nothing is told to stop after two seconds`() {
        let content = DiscardedContent(since: Self.at(100))
        #expect(!content.isOver(at: Self.at(101)))
        #expect(content.isOver(at: Self.at(102)))
    }

    @Test func `a client that sends all the time is told to stop after thirty seconds`() {
        var content = DiscardedContent(since: Self.at(100))
        for second in 101..<130 {
            content.dropped(1, at: Self.at(second))
            #expect(!content.isOver(at: Self.at(second)))
        }
        content.dropped(1, at: Self.at(130))
        #expect(content.isOver(at: Self.at(130)))
    }

    @Test func `a client that sends too much is told to stop at once`() {
        var content = DiscardedContent(since: Self.at(100))
        content.dropped(DiscardedContent.mostBytes, at: Self.at(100))
        #expect(!content.isOver(at: Self.at(100)))
        content.dropped(1, at: Self.at(100))
        #expect(content.isOver(at: Self.at(100)))
    }
}
