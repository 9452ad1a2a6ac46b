// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import pintle

/// Random rules, and what Squid and the configuration made of them say of random requests.
struct SquidModelTests {
    private struct Request: CustomStringConvertible, Sendable {
        let client: String
        let host: String
        let address: String
        let port: UInt16
        let isConnect: Bool

        var description: String {
            "\(self.client) \(self.isConnect ? "CONNECT" : "GET") \(self.host) (\(self.address)):\(self.port)"
        }
    }

    /// A list, and a plain reading of it.
    private struct List: Sendable {
        let line: String
        let matches: @Sendable (Request) -> Bool
    }

    private static let lists: [String: List] = [
        "all": List(line: "") { _ in true },
        "CONNECT": List(line: "") { $0.isConnect },
        "near": List(line: "acl near src 10.0.0.0/8") { $0.client.hasPrefix("10.") },
        "boss": List(line: "acl boss src 10.0.0.7") { $0.client == "10.0.0.7" },
        "web": List(line: "acl web port 80 443") { [80, 443].contains($0.port) },
        "tls": List(line: "acl tls port 443") { $0.port == 443 },
        "site": List(line: "acl site dstdomain .site.example") {
            $0.host == "site.example" || $0.host.hasSuffix(".site.example")
        },
        "shop": List(line: "acl shop dstdomain shop.site.example") { $0.host == "shop.site.example" },
        "other": List(line: "acl other dstdomain other.example .third.example") {
            $0.host == "other.example" || $0.host == "third.example" || $0.host.hasSuffix(".third.example")
        },
        "inside": List(line: "acl inside dst 192.168.0.0/16") { $0.address.hasPrefix("192.168.") },
        "vault": List(line: "acl vault dst 192.168.1.0/24") { $0.address.hasPrefix("192.168.1.") },
    ]
    private static let names = Self.lists.keys.sorted()
    private static let hosts = [
        "site.example", "a.site.example", "shop.site.example", "x.shop.site.example", "other.example",
        "b.third.example",
        "unknown.example", "",
    ]

    private struct Rule {
        let isAllowing: Bool
        let terms: [(name: String, isNegated: Bool)]

        var line: String {
            "http_access \(self.isAllowing ? "allow" : "deny") "
                + self.terms.map { "\($0.isNegated ? "!" : "")\($0.name)" }.joined(separator: " ")
        }

        func matches(_ request: Request) -> Bool {
            self.terms.allSatisfy { term in
                SquidModelTests.lists[term.name]?.matches(request) == !term.isNegated
            }
        }
    }

    private static func rules(_ generator: inout SeededGenerator) -> [Rule] {
        (0..<Int.random(in: 1...6, using: &generator)).map { _ in
            let terms = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
                (
                    name: Self.names.randomElement(using: &generator) ?? "all",
                    isNegated: Int.random(in: 0..<4, using: &generator) == 0
                )
            }
            return Rule(isAllowing: Bool.random(using: &generator), terms: terms)
        }
    }

    private static let requests: [Request] = {
        var requests: [Request] = []
        for client in ["10.0.0.7", "10.9.0.1", "172.16.0.1"] {
            for host in Self.hosts {
                for address in ["93.184.215.14", "192.168.0.1", "192.168.1.1"] {
                    for port in [80, 443, 8080] as [UInt16] {
                        for isConnect in [true, false] {
                            requests.append(
                                Request(
                                    client: client, host: host.isEmpty ? address : host, address: address, port: port,
                                    isConnect: isConnect))
                        }
                    }
                }
            }
        }
        return requests
    }()

    @Test func `no configuration allows a request that Squid denies`() throws {
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        var (written, exact) = (0, 0)
        for _ in 0..<400 {
            let rules = Self.rules(&generator)
            let text =
                Self.lists.values.map(\.line).filter { !$0.isEmpty }.joined(separator: "\n") + "\nhttp_port 3128\n"
                + rules.map(\.line).joined(separator: "\n")
            guard let result = try? squid(text) else { continue }
            written += 1
            #expect(!result.isWeaker)
            let policy = try result.loaded()
            var isExact = true
            for request in Self.requests {
                let fallback = rules.last.map { !$0.isAllowing } ?? false
                let squid = rules.first { $0.matches(request) }?.isAllowing ?? fallback
                let client = try #require(IPAddress(request.client))
                let pintle =
                    try policy.clients.refusal(of: client) == nil
                    && policy.opens(request.host, request.address, port: request.port, isConnect: request.isConnect)
                if pintle != squid { isExact = false }
                try #require(
                    squid || !pintle, "seed \(Seed.ofThisRun): \(request)\n\(text)\n\(result.policy.yaml)")
            }
            if isExact {
                exact += 1
            } else {
                #expect(result.remarks.contains { $0.effect == .stricter }, "\(text)\n\(result.policy.yaml)")
            }
        }
        #expect(written > 40 && exact > 20, "seed \(Seed.ofThisRun): \(written) were written, \(exact) of them exact")
    }
}
