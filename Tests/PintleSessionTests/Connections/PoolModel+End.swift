// SPDX-License-Identifier: Apache-2.0

import NIOCore

@testable import PintleSession

/// Time, want of descriptors and the end, and the rules that hold at all times.
extension PoolModel {
    mutating func passTime() {
        self.now = self.now + .seconds(Int64.random(in: 0..<40, using: &self.random))
        while true {
            let isOver = self.idle.first.map { $0.since + Self.idleTime <= self.now } ?? false
            guard self.close(next: self.state.closeExpired(at: self.now), if: isOver) else { return }
            self.seen.insert("expired")
        }
    }

    mutating func lackDescriptors() {
        if self.isLikely(50) {
            _ = self.close(next: self.state.closeOldest(), if: true)
        } else {
            let time = self.now - .seconds(10)
            let isIdle = self.idle.first.map { $0.since <= time } ?? false
            _ = self.close(next: self.state.closeIdle(since: time), if: isIdle)
        }
    }

    /// Ends all requests, and what is left then.
    mutating func end(isFinal: Bool) {
        for ticket in self.requests.keys.sorted() { self.cancel(ticket) }
        let expected =
            self.idle.map(\.connection)
            + self.shared.filter { number in
                !self.idle.contains { $0.connection == number }
            }
        let closing = self.state.end(isFinal: isFinal)
        self.expect(closing.sorted() == expected.sorted(), "\(closing) close at the end, not \(expected)")
        for number in closing { self.close(number) }
        self.expect(self.connections.isEmpty, "\(self.connections.count) connections are kept after the end")
        for key in Self.keys { self.expect(self.state.host(of: key) == nil, "\(key) is kept after the end") }
        (self.versions, self.remembered, self.hasEnded) = ([:], [:], isFinal)
    }

    /// Checks the rules that hold at all times.
    mutating func check() {
        for key in Self.keys {
            let counted = self.requests.values.count { $0.key == key && $0.isCounted }
            if self.versions[key] != .http2 {
                self.expect(!self.isQueued(key) || counted >= Self.perHost, "requests to \(key) wait for nothing")
            }
            self.expect((self.state.host(of: key) != nil) == self.isUsed(key), "\(key) is kept, or is forgotten")
        }
        self.expect(self.state.nextExpiry == self.idle.first.map { $0.since + Self.idleTime }, "the time is wrong")
    }
}
