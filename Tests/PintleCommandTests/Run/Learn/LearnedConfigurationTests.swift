// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleProxy
import PintleTesting
import PintleTrust
import Testing

@testable import pintle

/// A learnt configuration loads, covers the observed exchanges, and has no secrets.
struct LearnedConfigurationTests {
    @Test func `routes have methods, patterns, statuses, types and schemas`() throws {
        let json = "application/json; charset=utf-8"
        let (learnt, policy, _) = try LearnSample.learn([
            LearnSample.exchange("http://api.test/users/1?token=s3cret", type: json, body: #"{"id": 1}"#),
            LearnSample.exchange("http://api.test/users/2", type: json, body: #"{"id": 2, "name": "x"}"#),
            LearnSample.exchange("http://api.test/users/77", status: 404, type: json, body: #"{"error": "none"}"#),
            LearnSample.exchange("http://api.test/users/1", method: "HEAD", type: json),
            LearnSample.exchange("http://api.test/users", method: "POST", status: 201, type: json, body: ""),
            LearnSample.exchange("http://api.test/page.html", type: "text/html"),
            LearnSample.exchange("http://gone.test/secret/4711", decision: "error"),
        ])
        #expect((learnt.hostCount, learnt.routes, learnt.schemas.count) == (1, 4, 1))
        let routes = policy.configuration.routes
        #expect(
            routes.map(\.name) == [
                "get-api.test-page.html", "post-api.test-users", "get-api.test-users-any", "head-api.test-users-any",
                "not-learnt",
            ])
        #expect(routes[2].response.status == [200...200, 404...404])
        #expect(routes[2].response.contentTypes == ["application/json"])
        let schema = try #require(learnt.schemas.first?.text)
        #expect(schema.contains("anyOf") && schema.contains("\"error\"\n") && !schema.contains("none"), "\(schema)")
        #expect(routes[1].response.body == .json(ResponseRules.JSONRules()))
        #expect(learnt.text.contains("# There is no schema: a body was empty."))
        #expect(learnt.text.contains("#   GET gone.test:80/secret/*: failed"))
        for secret in ["s3cret", "token", "4711", "\u{1B}"] { #expect(!learnt.text.contains(secret), "\(secret)") }
        let warnings = Lint(policy, knowsPublicSuffixes: true).findings.filter { $0.severity == .warning }
        #expect(warnings.map(\.path) == ["routes[4].upstream"], "\(warnings)")
    }

    @Test func `bodies that a rule would change or refuse are not judged`() throws {
        let cases: [(String, ObservedExchange)] = [
            ("none", try LearnSample.exchange("http://a.test/none", type: "application/json", body: "{")),
            (
                "parts",
                try LearnSample.exchange("http://a.test/parts", status: 206, type: "application/json", body: "{}")
            ),
            ("switched", try LearnSample.exchange("http://a.test/switched", status: 101, type: nil, body: "")),
            ("odd", try LearnSample.exchange("http://a.test/odd", status: 999, type: "application/json", body: "{}")),
        ]
        let (learnt, policy, _) = try LearnSample.learn(cases.map(\.1))
        for (name, exchange) in cases {
            let route = try #require(policy.configuration.routes.first { $0.name == "get-a.test-\(name)" })
            #expect(route.response.body == .any, "\(learnt.text)")
            #expect(try policy.route(of: exchange) == route.name)
        }
        #expect(learnt.schemas.isEmpty)
    }

    @Test func `a key twice, fragments and several types are told apart`() throws {
        let (learnt, policy, _) = try LearnSample.learn([
            LearnSample.exchange("http://a.test/twice", type: "application/json", body: #"{"a": 1, "a": 2}"#),
            LearnSample.exchange("http://a.test/number", type: "application/hal+json", body: "4711"),
            LearnSample.exchange("http://a.test/mixed", type: "application/json", body: "{}"),
            LearnSample.exchange("http://a.test/mixed", status: 500, type: "text/html", body: "<p>"),
        ])
        let routes = policy.configuration.routes
        #expect(
            routes[0].response.contentTypes == ["application/json", "text/html"] && routes[0].response.body == .any)
        guard case .json(let number) = routes[1].response.body, case .json(let twice) = routes[2].response.body else {
            Issue.record("\(learnt.text)")
            return
        }
        #expect(number.fragments && number.schema != nil && !twice.fragments && twice.schema == nil)
    }

    /// Hosts and paths that YAML, the configuration or a pattern could take for something else.
    @Test(arguments: [
        "http://env/x", "http://file:80/x", "http://[::1]:8080/x", "http://10.0.0.1/x", "http://on/null",
        "http://x_y.test/~/-",
        "http://a.test/'%22/[]{}:,&", "http://a.test/a%2Fb/c", "http://a.test//x", "http://a.test/x;y=1/z",
        "http://a.test/*",
        "http://a.test/%2e%2e/x", "http://a.test/a/./b", "http://a.test/true/no/1e3", "http://a.test/", "http://a.test",
        "http://a.test/x/", "http://a.test/%25zz", "http://a.test/#", "http://a.test/env:HOME", "http://a.test/%00",
        "http://xn--e1afmkfd.test/x", "http://A.TEST./x", "http://a.test/\(String(repeating: "word/", count: 40))",
        "http://a.test/1/\(String(repeating: "lengthy-words-in-paths/", count: 12))", "http://a.test/\\x",
    ])
    func `odd hosts and paths lead to their own route again`(url: String) throws {
        let exchange = try LearnSample.exchange(url)
        let (learnt, policy, _) = try LearnSample.learn([exchange])
        let route = try policy.route(of: exchange)
        if learnt.routes == 0 {
            // A path that the proxy itself refuses was never answered.
            #expect(learnt.text.contains("not learnt"), "\(learnt.text)")
        } else {
            #expect(route != nil && route != "not-learnt", "\(learnt.text)")
        }
    }

    @Test(arguments: 0..<30)
    func `every request leads to a route that takes its answer`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words = ["a", "b", "users", "1", "22", "x.json", "3.json", "", "f00dfeed1", "a%2Fb", "v;p=1", "long-word"]
        let exchanges = try (0..<120).map { _ in
            let count = Int.random(in: 1...4, using: &random)
            let path = (0..<count).map { _ in
                // Some places have many words.
                Bool.random(using: &random)
                    ? words[Int.random(in: 0..<words.count, using: &random)]
                    : "w\(["x", "y", "z", "k", "q"].shuffled(using: &random).joined())"
            }
            return try LearnSample.exchange(
                "http://h.test/\(path.joined(separator: "/"))",
                method: ["GET", "POST", "PUT"][Int.random(in: 0..<3, using: &random)],
                status: 200 + Int.random(in: 0..<20, using: &random),
                type: ["text/plain", "text/html"][Int.random(in: 0..<2, using: &random)])
        }
        let (learnt, policy, _) = try LearnSample.learn(exchanges)
        for exchange in exchanges {
            let name = try policy.route(of: exchange)
            let route = try #require(policy.configuration.routes.first { $0.name == name }, "\(exchange.target)")
            let status = UInt16(exchange.record.upstreamStatus ?? 0)
            #expect(route.response.status.contains { $0.contains(status) }, "\(exchange.target)\n\(learnt.text)")
            let types = exchange.response?.contentTypes ?? []
            #expect(types.allSatisfy { route.response.contentTypes?.contains($0) == true }, "\(exchange.target)")
        }
    }

    @Test func `what there is too much of is bounded, and said`() throws {
        var random = SeededGenerator(seed: 1)
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        var exchanges: [ObservedExchange] = []
        for number in 0..<20_000 {
            let words = (0..<6).map { _ in
                String((0..<5).map { _ in letters[Int.random(in: 0..<26, using: &random)] })
            }
            exchanges.append(
                try LearnSample.exchange(
                    "http://h\(number % 300).test/\(words.joined(separator: "/"))",
                    method: "M\(letters[number % 26])".uppercased(),
                    type: "application/x-\(words[0])"))
        }
        let (learnt, policy, _) = try LearnSample.learn(exchanges)
        #expect(learnt.hostCount == 200)
        #expect(policy.configuration.routes.count < 17 * 4000 && learnt.text.utf8.count < 8 << 20)
        #expect(learnt.text.contains("NOT WHOLE"))
        for exchange in exchanges.prefix(200) { #expect(try policy.route(of: exchange) != "not-learnt") }
    }

    // MARK: Trust and tunnels

    private func verdict(_ pki: TestPKI, _ root: TestIdentity, _ name: String) throws -> Verdict {
        let leaf = try pki.leaf("leaf of \(name)", dns: [name], signedBy: root)
        let chain = [leaf.certificate, root.certificate]
        return Verdict(outcome: .trusted, host: name, chain: ChainEntry.entries(of: chain), chainOrigin: .verified)
    }

    @Test func `hosts below the same root share an entry that pins it`() throws {
        let pki = TestPKI()
        let (one, other) = (try pki.root("Root \"One\"\nx"), try pki.root("Other"))
        let (learnt, policy, _) = try LearnSample.learn([
            LearnSample.tunnel("a.test", mode: "intercept", address: nil),
            LearnSample.exchange("https://a.test/", mode: "intercept", verdict: self.verdict(pki, one, "a.test")),
            LearnSample.exchange("https://b.test:8443/", verdict: self.verdict(pki, one, "b.test")),
            LearnSample.exchange("https://c.test/", verdict: self.verdict(pki, other, "c.test")),
            LearnSample.tunnel("d.test"), LearnSample.tunnel("e.test", mode: "intercept", address: nil),
            LearnSample.exchange("http://f.test/"),
        ])
        let trust = policy.configuration.trust
        #expect(
            trust.map { $0.hosts.map(\.value.description) } == [
                ["a.test:443", "b.test:8443"], ["c.test:443"], ["d.test:443", "e.test:443"],
            ], "\(learnt.text)")
        #expect(trust.map(\.pinning) == [.publicKey, .publicKey, .none])
        #expect(trust[0].pins.map(\.value) == ["\(one.certificate.spkiPin)"] && trust[0].match == .root)
        #expect(learnt.text.contains("# No backup:") && learnt.text.contains("leaf of a.test"))
        #expect(policy.configuration.unpinnedHosts == .deny && policy.configuration.destinations.fallback == .deny)
        #expect(policy.configuration.interception.hosts.map(\.description) == ["a.test:443"])
        #expect(!policy.configuration.interception.passesThroughOnAlert)
        let tunnels = try #require(policy.configuration.routes.first { $0.connect == .tunnel })
        #expect(tunnels.match.hosts.map(\.description) == ["d.test:443", "e.test:443"])
    }

    @Test func `LOOK-113 handshakes without a name are allowed for the hosts that had some`() throws {
        var exchanges = try ["db:443", "10.0.0.1:443", "named.test:443"].map { try LearnSample.tunnel($0) }
        for place in exchanges.indices.dropLast() { exchanges[place].hasNamelessHello = true }
        let (learnt, policy, _) = try LearnSample.learn(exchanges)
        let destinations = policy.configuration.destinations
        // A tunnel to an address needs no name.
        #expect(
            destinations.absentSNI.map(\.description) == ["db:443"] && destinations.requiresSNIMatch, "\(learnt.text)")
        let (without, _, _) = try LearnSample.learn([LearnSample.tunnel("db")])
        #expect(!without.text.contains("require_sni_match"))
    }

    @Test func `captured clients may speak the protocols that they spoke, and others may not`() throws {
        let opaque = ["db:5432", "10.0.0.1:22", "[fd00::1]:25"]
        var exchanges = try (opaque + ["tls.test:443", "asked.test:22"]).map { try LearnSample.tunnel($0) }
        for place in exchanges.indices.dropLast() { exchanges[place].record.isCaptured = true }
        // One that has asked for its tunnel needs no such rule.
        for place in opaque.indices + [4] { exchanges[place].isOpaque = true }
        let (learnt, policy, _) = try LearnSample.learn(exchanges)
        func isLetThrough(_ host: String, isCaptured: Bool) throws -> Bool {
            let authority = try #require(Authority(host, defaultPort: 443))
            let plan = RequestPlan(
                RequestHead(method: "CONNECT", target: .authority(authority)), .none, by: policy,
                tunnel: TunnelKind(isOpaque: true, isCaptured: isCaptured))
            if case .refuse = plan.step { return false }
            return true
        }
        for host in opaque { #expect(try isLetThrough(host, isCaptured: true), "\(learnt.text)") }
        #expect(try !isLetThrough("tls.test:443", isCaptured: true) && !isLetThrough("asked.test:22", isCaptured: true))
        #expect(try isLetThrough("asked.test:22", isCaptured: false), "\(learnt.text)")
    }

    private func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    @Test func `the policy that was in force goes along, its passwords do not`() throws {
        let folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root("Root")
        try folder.write(root.certificatePEM, to: "root.pem")
        let client = try folder.write(try pki.leaf("client", dns: ["client"], signedBy: root), as: "client")
        let path = try folder.write(
            """
            version: 1
            upstream_proxy: {url: "http://proxy.test:3128", username: me, password: s3cret, no_proxy: ["*.local.test"]}
            trust:
              site:
                hosts: ["*.test"]
                extra_roots: [root.pem]
                min_tls: "1.2"
                client_certificate: {certificate: "\(client.certificate)", key: "\(client.key)", password: s3cret}
            """, to: "pintle.yaml")
        let base = try PolicyLoader.load(flag: path, surroundings: .system(environment: [:])).policy.configuration
        var exchange = try LearnSample.exchange("https://a.test/", verdict: self.verdict(pki, root, "a.test"))
        exchange.record.trust = "site"
        let (learnt, policy, _) = try LearnSample.learn([exchange], under: base)
        let trust = try #require(policy.configuration.trust.first)
        let name = folder.path.split(separator: "/").last ?? ""
        #expect(learnt.text.contains("extra_roots: [\"../\(name)/root.pem\"]") && trust.minTLS == .tls12)
        let files = (trust.extraRoots + [trust.clientCertificate?.certificate].compactMap { $0 }).map(\.value)
        #expect(files.map(self.resolved) == ["\(folder.path)/root.pem", client.certificate].map(self.resolved))
        #expect(trust.clientCertificate != nil && trust.clientCertificate?.password == nil)
        #expect(policy.configuration.upstreamProxy?.https?.url == "http://proxy.test:3128")
        #expect(policy.configuration.upstreamProxy?.exceptions.descriptions == ["*.local.test"])
        #expect(!learnt.text.contains("s3cret"))
    }
}
