// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintlePolicy
import PintleProxy
import PintleTesting
import Testing

@testable import pintle

/// A learnt configuration allows the requests that were seen, and no others.
struct LearnedBoundsTests {
    private static let methods = ["GET", "POST", "PUT", "PURGE", "NULL", "#A", "get", "Purge"]
    private static let words = ["a", "b", "users", "page.html", "long-word"]
    private static let hosts = ["seen.test", "other.test", "seen.test:81"]

    private func isDenied(_ exchange: ObservedExchange, by policy: Policy) throws -> Bool {
        guard case .absolute(let scheme, let authority, let path) = exchange.target else { return false }
        let head = RequestHead(
            method: exchange.record.method ?? "",
            target: .absolute(scheme: scheme, authority: authority, path: path), fields: ["Host": "\(authority)"])
        return try Explanation(policy, head).lines.last?.description == "answer       403 destination-denied"
    }

    @Test(arguments: 0..<10)
    func `LOOK-98 a request that was not seen is denied by what is learnt`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func any(_ texts: [String]) -> String { texts[Int.random(in: 0..<texts.count, using: &random)] }
        func request() -> (method: String, url: String) {
            let path = (0..<Int.random(in: 1...3, using: &random)).map { _ in any(Self.words) }
            return (any(Self.methods), "http://\(any(Self.hosts))/\(path.joined(separator: "/"))")
        }
        let seen = (0..<40).map { _ in request() }
        let exchanges = try seen.map { try LearnSample.exchange($0.url, method: $0.method) }
        let (learnt, policy, _) = try LearnSample.learn(exchanges)
        let names = Set(seen.map { "\($0.method) \($0.url)" })
        for asked in seen + (0..<400).map({ _ in request() }) {
            let isAllowed = names.contains("\(asked.method) \(asked.url)") && asked.method == asked.method.uppercased()
            let exchange = try LearnSample.exchange(asked.url, method: asked.method)
            #expect(try self.isDenied(exchange, by: policy) == !isAllowed, "\(asked)\n\(learnt.text)")
        }
    }

    @Test func `LOOK-98 methods in small letters, and one too many, are named and left out`() throws {
        let many = (0..<17).map { "M\(Array("ABCDEFGHIJKLMNOPQ")[$0])" }
        let exchanges = try many.map { try LearnSample.exchange("http://a.test/x", method: $0) }
        let small = try LearnSample.exchange("http://a.test/small", method: "get")
        let alone = try LearnSample.exchange("http://alone.test/", method: "get")
        let (learnt, policy, _) = try LearnSample.learn(exchanges + [small, alone])
        for exchange in exchanges.prefix(16) { #expect(try !self.isDenied(exchange, by: policy)) }
        for exchange in [exchanges[16], small, alone] { #expect(try self.isDenied(exchange, by: policy)) }
        #expect(learnt.text.contains("# Not allowed here") && learnt.text.contains("NOT WHOLE"))
        for line in ["get a.test:80/small", "get alone.test:80/", "MQ a.test:80/x"] {
            #expect(learnt.text.contains("#   \(line): not learnt"), "\(learnt.text)")
        }
        #expect(policy.configuration.routes.allSatisfy { $0.name == "not-learnt" || !$0.match.methods.isEmpty })
    }

    @Test func `LOOK-98 a tunnel whose requests are not learnt does not pass unseen`() throws {
        let tunnels = try ["small.test:443", "failed.test:443"].map {
            try LearnSample.tunnel($0, mode: "intercept", address: nil)
        }
        let inside = [
            try LearnSample.exchange("https://small.test/x", method: "get", mode: "intercept"),
            try LearnSample.exchange("https://failed.test/x", mode: "intercept", decision: "error"),
        ]
        let (learnt, policy, _) = try LearnSample.learn(
            tunnels + inside + [try LearnSample.exchange("http://a.test/")])
        #expect(learnt.hostCount == 1, "\(learnt.text)")
        for exchange in inside { #expect(try self.isDenied(exchange, by: policy)) }
        #expect(!learnt.text.contains("connect: "), "\(learnt.text)")
    }
}
