// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintlePolicy
import PintleWatch
import Testing

@testable import PintleRehearsal

/// Recorded exchanges under another configuration.
@Suite struct TrafficComparisonTests {
    /// Reads a log with one line for each request, and compares.
    private static func compare(
        _ old: String, _ new: String, _ requests: [(method: String, url: String)],
        _ fill: (inout ExchangeRecord) -> Void = { _ in }
    ) throws -> (rows: [TrafficComparison.Row], comparison: TrafficComparison) {
        let texts = ["old.yaml": "version: 1\n" + old, "new.yaml": "version: 1\n" + new]
        let surroundings = MemoryFiles.surroundings(texts)
        func load(_ file: String) throws -> TableComparison.Loaded {
            let yaml = Array((texts[file] ?? "").utf8)
            return (try PolicyLoader.policy(yaml: yaml, file: file, surroundings: surroundings), file)
        }
        var bytes: [UInt8] = []
        for (index, request) in requests.enumerated() {
            var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: "x\(index)")
            (record.method, record.url) = (request.method, request.url)
            fill(&record)
            ExchangeEncoder(format: .json, redaction: .on).encode(record, into: &bytes)
        }
        var comparison = TrafficComparison(
            from: try load("old.yaml"), to: try load("new.yaml"), surroundings: surroundings)
        var (reader, rows) = (TrafficReader(), [TrafficComparison.Row]())
        bytes.withUnsafeBytes { bytes in reader.feed(bytes) { if let row = comparison.add($0) { rows.append(row) } } }
        reader.finish { _ in }
        #expect(reader.summary.faults == 0)
        return (rows, comparison)
    }

    private static func kinds(
        _ old: String, _ new: String, _ method: String, _ url: String, _ fill: (inout ExchangeRecord) -> Void = { _ in }
    ) throws -> [PlanComparison.Kind] {
        try Self.compare(old, new, [(method, url)], fill).rows.first?.kinds ?? []
    }

    @Test func `rules for named clients are tried with those of the record`() throws {
        let rules = "destinations: {deny: [{host: a.example, tags: [ci]}]}"
        for (tag, kinds) in [("ci", [PlanComparison.Kind.denied]), ("other", []), (nil, [])] {
            #expect(try Self.kinds("", rules, "GET", "http://a.example/") { $0.tag = tag } == kinds)
        }
    }

    @Test func `exchanges that would be decided otherwise are told with rules and lines`() throws {
        let (rows, found) = try Self.compare(
            "", "destinations:\n  deny: [a.example]\n",
            [
                ("GET", "http://a.example/"), ("GET", "http://b.example/"), ("CONNECT", "a.example:443"),
                ("GET", "http://a.example/2"),
            ])
        #expect(rows.map(\.exchange.line) == [1, 3, 4] && rows.map(\.exchange.id) == ["x0", "x2", "x3"])
        #expect(found.exchanges == 4 && found.same == 1 && found.otherwise == 3 && found.counts == [.denied: 3])
        let difference = try #require(found.differences.first)
        #expect(found.differences.count == 1 && difference.count == 3)
        #expect(difference.after.rule == "destinations.deny[0] \"a.example\"")
        #expect(difference.after.place == "new.yaml:3:10" && difference.before.decision == "allow")
        #expect(difference.witness == "GET http://a.example/" && difference.line == 1)
    }

    @Test func `a field that the log lacks makes an exchange doubtful only if it decides`() throws {
        let route = "routes: [{name: r, match: {hosts: [a.example], headers: {X-Env: stage}}, request: {timeout: 5s}}]"
        let other = route.replacing("stage", with: "test")
        #expect(try Self.kinds(route, route, "GET", "http://a.example/") == [])
        #expect(try Self.kinds(route, other, "GET", "http://a.example/") == [.unknown])
        #expect(try Self.kinds(route, other, "GET", "http://b.example/") == [])
        // Whatever the field is, the destination is denied.
        #expect(
            try Self.kinds(route, other + "\ndestinations: {deny: [a.example]}", "GET", "http://a.example/") == [
                .denied
            ])
    }

    @Test func `a rule for a field that the log lacks cannot be told, unless it decides whatever the client sent`()
        throws
    {
        func route(_ rules: String) -> String { "routes: [{name: r, request: {headers: {\(rules)}}}]" }
        #expect(try Self.kinds(route("remove: [X-A]"), route("set: {X-B: b}"), "GET", "http://a/") == [.request])
        #expect(try Self.kinds(route(""), route("remove: [X-A]"), "GET", "http://a/") == [.unknown])
        #expect(
            try Self.kinds(route("default: {X-A: a}"), route("default: {X-A: b}"), "GET", "http://a/") == [.unknown])
        #expect(try Self.kinds(route("set: {X-A: a}"), route("set: {X-A: b}"), "GET", "http://a/") == [.request])
        #expect(try Self.kinds(route("set: {X-A: a}"), route("set: {X-A: a}"), "GET", "http://a/") == [])
    }

    @Test func `a masked query is unknown to a serializer alone`() throws {
        func route(_ value: String) -> String {
            "routes: [{name: r, request: {serialize: http, parameters: {p: \(value)}}}]"
        }
        #expect(try Self.kinds(route("1"), route("2"), "GET", "http://a/?p=9") == [.unknown])
        #expect(try Self.kinds(route("1"), route("1"), "GET", "http://a/?p=9") == [])
        #expect(try Self.kinds("", "destinations: {deny: [a]}", "GET", "http://a/?p=9") == [.denied])
    }

    @Test func `the recorded address is judged by rules about addresses`() throws {
        let deny = "destinations: {deny: [\"10.0.0.0/8\"]}"
        func kinds(_ address: String?) throws -> [PlanComparison.Kind] {
            try Self.kinds("", deny, "GET", "http://a.example/") { $0.address = address }
        }
        #expect(try kinds("10.1.2.3:80") == [.denied])
        #expect(try kinds("11.1.2.3:80") == [])
        #expect(try kinds(nil) == [.unknown])
        // It was the address of an upstream proxy.
        let parent = "upstream_proxy: {url: \"http://10.0.0.1:3128\"}"
        #expect(
            try Self.kinds(parent, parent + "\n" + deny, "GET", "http://a.example/") { $0.address = "10.0.0.1:3128" }
                == [])
    }

    @Test func `a body that is not recorded makes a serialized request doubtful`() throws {
        func route(_ value: String) -> String {
            "routes: [{name: r, request: {serialize: json, parameters: {p: \(value)}}}]"
        }
        #expect(try Self.kinds(route("1"), route("2"), "POST", "http://a/") { $0.bytesIn = 5 } == [.unknown])
        #expect(try Self.kinds(route("1"), route("1"), "POST", "http://a/") { $0.bytesIn = 5 } == [])
    }

    @Test func `words for people have a bound, and tell how many there are`() throws {
        let hosts = (0..<60).map { "h\($0).example" }
        let (_, found) = try Self.compare(
            "", "destinations: {deny: [\(hosts.joined(separator: ", "))]}", hosts.map { ("GET", "http://\($0)/") })
        let lines = ComparisonText.lines(found)
        #expect(lines.count == ComparisonText.mostListed * 3 + 2)
        #expect(
            lines.suffix(2) == [
                "and 10 more; --format json has all of them",
                "60 of 60 exchanges would be decided otherwise: denied 60",
            ])
    }
}
