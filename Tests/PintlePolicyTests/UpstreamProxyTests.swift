// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import PintleTesting
import Testing

/// `upstream_proxy`: accepted and refused values, and the way of a request.
struct UpstreamProxyTests {
    private func read(_ yaml: String, _ environment: [String: String] = [:]) throws -> UpstreamProxyConfiguration? {
        try load("version: 1\nupstream_proxy: \(yaml)", surroundings(environment: environment)).upstreamProxy
    }

    private func refusals(_ yaml: String, _ environment: [String: String] = [:]) -> [String] {
        problems("version: 1\nupstream_proxy: \(yaml)", surroundings(environment: environment))
    }

    private func way(_ policy: Policy, _ url: String) throws -> RequestWay {
        try policy.decide(try query("GET", url)).way
    }

    // MARK: The file

    @Test(arguments: [
        ("http://proxy.example:3128", ProxyServer.Scheme.http, "proxy.example:3128"),
        ("HTTP://Proxy.Example:3128/", .http, "proxy.example:3128"),
        ("https://proxy.example", .https, "proxy.example:443"),
        ("socks5://[::1]", .socks5, "[::1]:1080"),
        ("socks5h://10.0.0.1:9050", .socks5, "10.0.0.1:9050"),
    ])
    func `a parent is a scheme, a host and a port`(url: String, scheme: ProxyServer.Scheme, authority: String) throws {
        let parent = try #require(try self.read("{url: \"\(url)\"}")?.http)
        #expect(parent.server.scheme == scheme && parent.server.authority.description == authority)
        #expect(parent.server.credential == nil && parent.source == "upstream_proxy.url")
        #expect(try self.read("off") == nil)
    }

    @Test(arguments: [
        ("{}", "2:17: upstream_proxy: the key \"url\" is missing: the parent, as in http://proxy.example:3128"),
        ("on", "2:17: upstream_proxy: must be a map with the key url, env for the environment's proxies, or off"),
        (
            "{url: \"http://p\"}",
            "2:23: upstream_proxy.url: \"http://p\": the port is missing, as in http://proxy.example:3128"
        ),
        (
            "{url: \"ftp://p:1\"}",
            "2:23: upstream_proxy.url: \"ftp://p:1\": a proxy is http://, https://, socks5:// or socks5h:// with host and "
                + "port"
        ),
        (
            "{url: \"http://p:1/x\"}",
            "2:23: upstream_proxy.url: \"http://p:1/x\": a proxy is http://, https://, socks5:// or socks5h:// with host "
                + "and port"
        ),
        (
            "{url: \"http://127.0.0.1:3128\"}",
            "2:17: upstream_proxy: upstream_proxy.url is 127.0.0.1:3128, and this proxy listens on 127.0.0.1:3128: a loop"
        ),
        (
            "{url: \"http://p:1\", username: u}",
            "2:17: upstream_proxy: the key \"password\" is missing; a credential is username and password"
        ),
        (
            "{url: \"http://p:1\", usename: u}",
            "2:37: upstream_proxy: unknown key \"usename\"; did you mean \"username\"?"
        ),
        (
            "{url: \"http://p:1\", no_proxy: [\".corp\"]}",
            "2:48: upstream_proxy.no_proxy[0]: \".corp\": not a host name: letters, digits, - . _ only; patterns are "
                + "exact, *.suffix, * or a network, never regular expressions"
        ),
    ])
    func `what is wrong is said`(yaml: String, problem: String) {
        #expect(self.refusals(yaml) == ["pintle.yaml:\(problem)"])
    }

    @Test func `no message has a credential in it`() {
        let environment = [
            "URL": "http://u:s3cret@p:1", "LONG": String(repeating: "s3cret", count: 50), "BAD": "s3\ncret",
        ]
        let cases = [
            "{url: \"http://u:s3cret@p:1\"}", "{url: \"env:URL\"}", "{url: \"http:u:s3cret@p\"}",
            "{url: \"socks5://p:1\", username: u, password: \"env:LONG\"}",
            "{url: \"http://p:1\", username: u, password: \"env:BAD\"}",
            "{url: \"http://p:1\", username: \"a:b\", password: s3cret}",
        ]
        for yaml in cases {
            let found = self.refusals(yaml, environment)
            #expect(found.count == 1 && !found[0].contains("s3"), "\(found)")
        }
        #expect(
            self.refusals(cases[0])[0].contains("give it as username and password, from env: or file:"))
        for variable in ["http://u:s3cret@", "ftp://u:s3cret@p:1", "http://u%:s3cret@p:1", "http://:s3cret@p:1"] {
            let found = self.refusals("env", ["http_proxy": variable])
            #expect(found.count == 1 && found[0].contains("the environment's http_proxy: "), "\(found)")
            #expect(!found[0].contains("s3cret"))
        }
    }

    @Test func `exceptions are host patterns`() throws {
        let policy = try policy(
            "upstream_proxy: {url: \"http://p:1\", no_proxy: [\"*.corp.example\", \"x.example:8080\", \"10.0.0.0/8\"]}")
        for (url, rule) in [
            ("http://a.corp.example/", "upstream_proxy.no_proxy[0] \"*.corp.example\""),
            ("https://x.example:8080/", "upstream_proxy.no_proxy[1] \"x.example:8080\""),
            ("http://10.1.2.3/", "upstream_proxy.no_proxy[2] \"10.0.0.0/8\""),
        ] { #expect(try self.way(policy, url) == .direct(by: rule)) }
        for url in ["http://corp.example/", "https://x.example/", "http://11.0.0.1/", "http://127.0.0.1/"] {
            #expect(try self.way(policy, url) == .parent(0))
        }
        #expect(try self.way(try PintlePolicyTests.policy(""), "http://a.corp.example/") == .straight)
    }

    @Test func `the first of thousands of exceptions decides, as if each were tried`() throws {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        let labels = ["a", "b", "c"]
        func name() -> String {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in labels.randomElement(using: &random) ?? "a" }
                .joined(separator: ".") + ".example"
        }
        func pattern() -> String {
            let port = Int.random(in: 0..<3, using: &random) == 0 ? ":8080" : ""
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return "10.\(Int.random(in: 0..<4, using: &random)).0.0/16\(port)"
            case 1: return "10.\(Int.random(in: 0..<4, using: &random)).0.1\(port)"
            case 2: return "*.\(name())\(port)"
            default: return name() + port
            }
        }
        for _ in 0..<200 {
            let written = (0..<Int.random(in: 1...12, using: &random)).map { _ in pattern() }
            let patterns = try written.map { try HostPattern($0) }
            let list = written.map { "\"\($0)\"" }.joined(separator: ", ")
            let policy = try policy("upstream_proxy: {url: \"http://p:1\", no_proxy: [\(list)]}")
            for host in [name(), "x.\(name())", "10.1.0.1", "10.2.0.1:8080", "\(name()):8080"] {
                let url = "http://\(host)/"
                let authority = try query("GET", url).authority
                let expected = patterns.firstIndex { $0.matches(authority) }
                    .map { RequestWay.direct(by: "upstream_proxy.no_proxy[\($0)] \"\(written[$0])\"") }
                #expect(try self.way(policy, url) == expected ?? .parent(0), "\(url) \(list)")
            }
        }
    }

    @Test func `the first of the environment's words decides, as if each were tried`() throws {
        let words = [
            "b.example", ".a.example", "a.example.", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "[::1]", "::/0",
            "EXAMPLE",
            "b.example:80", "*", "a.example",
        ]
        var random = SeededGenerator(seed: Seed.ofThisRun)
        for _ in 0..<200 {
            let written = Array(words.shuffled(using: &random).prefix(5))
            let text = written.joined(separator: ",")
            let policy = try PolicyLoader.policy(
                yaml: Array("version: 1\nupstream_proxy: env".utf8), file: "pintle.yaml",
                surroundings: surroundings(environment: ["http_proxy": "http://p:1", "no_proxy": text]))
            for host in [
                "a.example", "x.a.example", "b.example", "ab.example", "10.1.2.3", "10.2.0.1", "11.1.1.1", "[::1]",
            ] {
                let isAddress = !host.contains("example")
                let matching = written.first { word in
                    if isAddress {
                        return switch host {
                        case "10.1.2.3": word.hasPrefix("10.")
                        case "10.2.0.1": word == "10.0.0.0/8"
                        case "[::1]": word == "[::1]" || word == "::/0"
                        default: false
                        }
                    }
                    var name = word.lowercased()[...]
                    if name.hasSuffix(".") { name = name.dropLast() }
                    if name.hasPrefix(".") { name = name.dropFirst() }
                    return host == name || host.hasSuffix(".\(name)")
                }
                let expected = matching.map { RequestWay.direct(by: "no_proxy \"\($0)\"") } ?? .parent(0)
                #expect(try self.way(policy, "http://\(host)/") == expected, "\(host) of \(text)")
            }
        }
    }

    // MARK: The environment

    private func server(_ parent: UpstreamProxyConfiguration.Parent?) -> String? {
        parent.map { "\($0.url) \($0.source) \($0.server.credential?.password ?? "-")" }
    }

    @Test func `the environment's variables are read as curl reads them`() throws {
        func servers(_ environment: [String: String]) throws -> [String?] {
            let configuration = try self.read("env", environment)
            return [self.server(configuration?.http), self.server(configuration?.https)]
        }
        #expect(try servers([:]) == [nil, nil])
        #expect(try servers(["HTTP_PROXY": "http://p:1"]) == [nil, nil])
        #expect(
            try servers(["http_proxy": "p", "HTTPS_PROXY": "https://q"]) == [
                "http://p:1080 http_proxy -", "https://q:443 HTTPS_PROXY -",
            ])
        #expect(
            try servers(["https_proxy": "socks5://q/", "HTTPS_PROXY": "x:1", "all_proxy": "http://r:2"]) == [
                "http://r:2 all_proxy -", "socks5://q:1080 https_proxy -",
            ])
        #expect(
            try servers(["http_proxy": "", "ALL_PROXY": "http://u%40x:p%3a%25@r:2"]) == [
                "http://r:2 ALL_PROXY p:%", "http://r:2 ALL_PROXY p:%",
            ])
        #expect(try servers(["all_proxy": "http://user@r:2"])[0] == "http://r:2 all_proxy ")
    }

    @Test func `without the key the environment is not looked at`() throws {
        let configuration = try load("version: 1", surroundings(environment: ["http_proxy": "http://p:1"]))
        #expect(configuration.upstreamProxy == nil)
    }

    /// The results of curl 7.88 for the same variable, except for the IPv6 network, which that version does not match.
    @Test(arguments: [
        ("example.com", "example.com", true), ("example.com", "www.example.com", true),
        ("example.com", "nonexample.com", false), (".example.com", "example.com", true),
        ("EXAMPLE.com.", "www.example.com", true), ("a, b.example\tc.example", "c.example", true),
        ("*", "anything", true), ("*,a", "anything", false), ("*.example.com", "www.example.com", false),
        ("example.com:80", "example.com", false), ("10.0.0.0/8", "10.2.3.4", true), ("10.0.0.1/8", "10.2.3.4", true),
        ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false), ("10.0.0.0/33", "10.0.0.1", false),
        ("0.0.1", "10.0.0.1", false), ("2001:db8::/32", "[2001:db8::1]", true), ("::1", "[::1]", true),
        ("", "example.com", false), (".", "example.com", false),
    ])
    func `no_proxy is understood as curl does`(list: String, host: String, isDirect: Bool) throws {
        let yaml = Array("version: 1\nupstream_proxy: env".utf8)
        let policy = try PolicyLoader.policy(
            yaml: yaml, file: "pintle.yaml",
            surroundings: surroundings(environment: ["all_proxy": "http://p:1", "no_proxy": list]))
        #expect((try self.way(policy, "http://\(host)/") != .parent(0)) == isDirect)
    }

    @Test func `each scheme goes its own way`() throws {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\nupstream_proxy: env".utf8), file: "pintle.yaml",
            surroundings: surroundings(environment: ["https_proxy": "http://p:1"]))
        #expect(try self.way(policy, "https://a.example/") == .parent(0))
        #expect(
            try self.way(policy, "http://a.example/") == .direct(by: "the environment, which names no proxy for http"))
        let tunnel = policy.decideTunnel(try query("CONNECT", "https://a.example:22/"))
        #expect(tunnel.way == .parent(0))
    }

    @Test func `a parent is a loop where this proxy listens in the end, whatever the file says`() throws {
        func load(_ port: UInt16, on listen: [ListenAddress]?) throws(ConfigurationError) {
            let yaml = "version: 1\nupstream_proxy: {url: \"http://127.0.0.1:\(port)\"}"
            _ = try PolicyLoader.policy(
                yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: surroundings(), listen: listen)
        }
        #expect(throws: ConfigurationError.self) { try load(3128, on: nil) }
        try load(3128, on: [ListenAddress("127.0.0.1:0")])
        #expect(throws: ConfigurationError.self) { try load(4000, on: [ListenAddress("127.0.0.1:4000")]) }
    }

    @Test func `sections without a value say nothing`() throws {
        #expect(try load("version: 1\nupstream_proxy:\nlisten_tls:\n") == Configuration())
    }

    // MARK: Effect on other rules

    @Test func `what only an address could allow is denied where a parent resolves the name`() throws {
        let rules = "destinations: {default: deny, allow: [\"192.0.2.0/24\", good.example]}\n"
        let parent = "upstream_proxy: {url: \"http://p:1\", no_proxy: [near.example]}"
        let policy = try policy(rules + parent)
        func judged(_ url: String) throws -> DestinationDecision {
            try policy.decide(try query("GET", url)).destination
        }
        #expect(try judged("http://far.example/").denial?.contains("upstream_proxy resolves the name") == true)
        #expect(policy.decideTunnel(try query("CONNECT", "https://far.example/")).destination.denial != nil)
        #expect(try judged("http://near.example/") == .byAddress)
        #expect(try judged("http://good.example/").denial == nil)
        #expect(try judged("http://192.0.2.7/").denial == nil)
        #expect(try judged("http://198.51.100.7/").denial != nil)
    }

    @Test func `check says where requests go, and which rules do not reach`() throws {
        let yaml = """
            upstream_proxy: {url: "http://p:1", no_proxy: ["*.corp.example"], username: u, password: s3cret}
            destinations: {private_addresses: deny}
            """
        let findings = Lint(try policy(yaml)).findings
        #expect(
            findings.map(\.message) == [
                "requests and tunnels go by http://p:1 of upstream_proxy.url; to their origins: *.corp.example",
                "the parent resolves names, so the rules of destinations about networks and private addresses are not "
                    + "applied to what names resolve to; have the parent apply them",
            ])
        #expect(findings.map(\.severity) == [.note, .warning])
    }

    @Test func `explain says which way, and why`() throws {
        let yaml = """
            trust: {gate: {hosts: [p.example]}}
            upstream_proxy: {url: "https://p.example:1", no_proxy: [near.example], username: u, password: s3cret}
            """
        let policy = try policy(yaml)
        func ways(_ url: String) throws -> [String] {
            let asked = try query("GET", url)
            let target = RequestTarget.absolute(scheme: asked.scheme, authority: asked.authority, path: "/")
            let lines = try Explanation(policy, RequestHead(method: "GET", target: target)).lines
            return lines.filter { $0.topic == "way" }.map(\.text)
        }
        let parent = "by the parent https://p.example:1 of upstream_proxy.url: "
        let rest = [
            "the parent resolves the name; its address is judged by no rule here",
            "the parent's certificate is judged by gate, by trust.gate.hosts[0] \"p.example\"",
        ]
        #expect(try ways("http://a.example/") == [parent + "the request in absolute form"] + rest)
        #expect(try ways("https://a.example/") == [parent + "a tunnel by CONNECT"] + rest)
        #expect(
            try ways("http://near.example/") == ["to the origin itself, by upstream_proxy.no_proxy[0] \"near.example\""]
        )
    }
}
