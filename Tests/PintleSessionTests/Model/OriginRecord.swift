// SPDX-License-Identifier: Apache-2.0

import PintleTesting

@testable import PintleSession

/// The events of a course so far, and the breaches in them. Used on one loop.
final class OriginRecord {
    private let pool: TransferPool
    private let listener: PolledListener
    private let greetings: [OriginCourse.Greeting]
    private(set) var asks: [ModelAsk] = []
    private(set) var peers: [ModelPeer] = []
    private(set) var breaches: [String] = []
    /// True if a connection was ended since the last check of everything: bytes that were on their way over it are never
    /// seen.
    var hasEndedConnection = false
    /// True if a connection ended without a GOAWAY which says that no request on its way was processed.
    var hasEndedUntold = false
    /// True once the session ends.
    var isClosing = false
    private var serial = 0

    init(_ course: OriginCourse, pool: TransferPool, listener: PolledListener) {
        (self.pool, self.listener) = (pool, listener)
        self.greetings = course.greetings.isEmpty ? [.init()] : course.greetings
    }

    func breach(_ sentence: String) { self.breaches.append(sentence) }

    /// Lets go of requests and peers, which hold the record.
    func release() { (self.asks, self.peers) = ([], []) }

    func nextSerial() -> Int {
        self.serial += 1
        return self.serial
    }

    func ask(_ token: Int) -> ModelAsk? { self.asks.indices.contains(token) ? self.asks[token] : nil }

    /// Makes a request.
    func ask(_ request: OriginCourse.Request) {
        guard !self.isClosing else { return }
        let ask = ModelAsk(self.asks.count, request, self)
        self.asks.append(ask)
        ask.begin(in: self.pool, port: self.listener.port)
    }

    /// A request that is under way; nil if none is.
    func ask(under number: Int) -> ModelAsk? { Self.pick(number, of: self.asks.filter { !$0.isOver }) }

    /// A stream on which the origin may do something.
    func attempt(under number: Int) -> ModelAttempt? {
        Self.pick(number, of: self.peers.flatMap(\.attempts).filter { !$0.isClosed && $0.peer.maySend })
    }

    func peer(under number: Int) -> ModelPeer? {
        Self.pick(number, of: self.peers.filter { !$0.isOver && !$0.isBroken })
    }

    private static func pick<Value>(_ number: Int, of values: [Value]) -> Value? {
        values.isEmpty ? nil : values[number % values.count]
    }

    /// Takes everything that has come.
    ///
    /// - Returns: a number that grows with each event.
    func turn() -> Int {
        while let stream = self.listener.accept() {
            let greeting = self.greetings[self.peers.count % self.greetings.count]
            self.peers.append(ModelPeer(self.peers.count, stream, greeting: greeting, record: self))
        }
        for peer in self.peers { peer.turn() }
        return self.peers.reduce(self.peers.count) { $0 + $1.events }
    }
}
