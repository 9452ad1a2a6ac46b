// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// A configuration and requests to it, made up by a seed.
struct MadeUp: CustomStringConvertible {
    /// YAML after `version: 1`.
    let policy: String
    /// Requests in the form of the wire, with bodies.
    let requests: [Request]

    /// One request.
    struct Request {
        let lines: [String]
        let body: String

        /// The input of `pintle check --sample`.
        var sample: String {
            self.lines[0] + " HTTP/1.1\r\n" + self.lines.dropFirst().map { $0 + "\r\n" }.joined() + "\r\n" + self.body
        }
    }

    var description: String { "\(self.policy)\n\(self.requests.map(\.sample).joined(separator: "\n---\n"))" }

    init(seed: UInt64, requests count: Int) {
        var generator = SeededGenerator(seed: seed)
        var lines: [String] = []
        lines.append(
            ["via: pintle", "via: other", "via: false", "enforcement: report"].randomElement(using: &generator) ?? "")
        lines.append("limits: {body_buffer: \([8, 64, 1024].randomElement(using: &generator) ?? 8)}")
        lines.append(
            [
                "destinations: {deny: [b.test]}", "destinations: {default: deny, allow: [\"*.test\"]}",
                "destinations: {ports: [80, 443]}", "destinations: {private_addresses: deny}", "",
            ].randomElement(using: &generator) ?? "")
        lines.append(["upstream_proxy: {url: \"http://p.test:3128\"}", "", ""].randomElement(using: &generator) ?? "")
        lines.append("routes:")
        for number in 0..<Int.random(in: 1...4, using: &generator) {
            lines.append("  - {name: r\(number), \(Self.route(&generator))}")
        }
        self.policy = lines.filter { !$0.isEmpty }.joined(separator: "\n")
        self.requests = (0..<count).map { _ in Self.request(&generator) }
    }

    private static func route(_ generator: inout SeededGenerator) -> String {
        var parts: [String] = []
        var match: [String] = []
        if Bool.random(using: &generator) {
            match.append(
                ["hosts: [a.test]", "hosts: [\"*.test\"]", "hosts: [b.test, 10.0.0.0/8]"].randomElement(
                    using: &generator) ?? "")
        }
        if Bool.random(using: &generator) {
            match.append(
                ["methods: [GET]", "methods: [POST, PUT]", "methods: [OPTIONS, GET]"].randomElement(using: &generator)
                    ?? "")
        }
        if Bool.random(using: &generator) {
            match.append(
                ["paths: [\"/v1/**\"]", "paths: [\"/a/*\", \"/v1/pets\"]"].randomElement(using: &generator) ?? "")
        }
        if !match.isEmpty { parts.append("match: {\(match.joined(separator: ", "))}") }
        if Int.random(in: 0..<4, using: &generator) == 0 {
            parts.append(
                [
                    "upstream: \"http://up.test/base\"", "upstream: \"http://b.test\"",
                    "upstream: \"https://up.test\", strip_prefix: /v1",
                ].randomElement(using: &generator) ?? "")
        }
        let contract = Int.random(in: 0..<4, using: &generator)
        if contract == 0 { parts.append("contract: {file: pets.yaml, requests: true}") }
        if contract == 1 { parts.append("contract: {file: pets.yaml}") }
        parts += Self.requestRules(&generator)
        if contract < 2 || Bool.random(using: &generator) {
            let report = Bool.random(using: &generator) ? "report" : "reject"
            let rule = ["body: json", "max_body: 100", "status: [200]"].randomElement(using: &generator) ?? ""
            parts.append("response: {\(rule), on_violation: \(report)}")
        }
        return parts.isEmpty ? "match: {}" : parts.joined(separator: ", ")
    }

    private static func requestRules(_ generator: inout SeededGenerator) -> [String] {
        var rules: [String] = []
        if Bool.random(using: &generator) {
            rules.append(
                [
                    "headers: {remove: [X-A], set: {X-B: s}}", "headers: {default: {X-A: d}, add: {X-C: a}}",
                    "headers: {set: {Content-Type: application/json}}",
                ].randomElement(using: &generator) ?? "")
        }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: rules.append("serialize: http, parameters: {p: 1}")
        case 1: rules.append("serialize: json, parameters: {p: [1, two]}")
        case 2: rules.append("serialize: plist")
        case 3: rules.append("throttle: {packet: 1MiB, delay: 1ms}")
        default: break
        }
        return rules.isEmpty ? [] : ["request: {\(rules.joined(separator: ", "))}"]
    }

    private static func request(_ generator: inout SeededGenerator) -> Request {
        let method =
            ["GET", "GET", "POST", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "TRACE"].randomElement(using: &generator)
            ?? ""
        let host =
            ["a.test", "b.test", "c.test:8080", "10.0.0.1", "other.example"].randomElement(using: &generator) ?? ""
        let path =
            [
                "/", "/v1/pets", "/v1/pets?limit=3", "/v1/pets?limit=x", "/a/b", "/v1/../a/b", "/v1%2Fpets",
                "/a/b?x=1&y=%20",
            ].randomElement(using: &generator) ?? ""
        let isGateway = Int.random(in: 0..<5, using: &generator) == 0
        let scheme = Bool.random(using: &generator) ? "http" : "https"
        var lines = ["\(method) \(isGateway ? path : "\(scheme)://\(host)\(path)")", "Host: \(host)"]
        for field in Self.fields where Int.random(in: 0..<6, using: &generator) == 0 { lines.append(field) }
        var body = ""
        if method != "TRACE", Int.random(in: 0..<3, using: &generator) > 0 {
            let (type, text) = Self.bodies.randomElement(using: &generator) ?? ("", "")
            if !type.isEmpty { lines.append("Content-Type: \(type)") }
            if Bool.random(using: &generator) {
                lines.append("Content-Length: \(text.utf8.count)")
                body = text
            } else {
                lines.append("Transfer-Encoding: chunked")
                if !text.isEmpty { body = String(text.utf8.count, radix: 16) + "\r\n\(text)\r\n" }
                body += "0\r\n\(Bool.random(using: &generator) ? "X-Sum: 1\r\n" : "")\r\n"
            }
        }
        return Request(lines: lines, body: body)
    }

    private static let fields = [
        "X-A: one", "X-B: two", "Max-Forwards: 0", "Max-Forwards: 4", "Via: 1.1 other", "Via: 1.0 third (x)",
        "Range: bytes=0-4", "Accept-Encoding: gzip, zstd, x", "Expect: 100-continue", "Connection: X-A, upgrade",
        "Upgrade: websocket, h2c", "Authorization: Basic eA==", "TE: trailers", "Proxy: x",
    ]

    private static let bodies = [
        ("application/json", #"{"name":"a"}"#), ("application/json", #"{"nome":1}"#), ("application/json", "{no"),
        ("application/json", #"{"name":"\#(String(repeating: "x", count: 200))"}"#), ("text/plain", "hello"),
        ("application/x-www-form-urlencoded", "a=1&b=2"), ("", "x"), ("application/json", ""),
    ]
}
