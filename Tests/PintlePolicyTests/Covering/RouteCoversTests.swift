// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@testable import PintlePolicy

/// Routes that an earlier one shadows are found as if each were compared with each.
struct RouteCoversTests {
    private static let hosts = [
        "a.example", "b.example", "c.a.example", "*.example", "*.a.example", "*.c.a.example", "*", "10.0.0.0/8",
        "10.1.0.0/16", "10.1.2.3", "a.example:80", "*.example:80", "*:80", "2001:db8::/32", "2001:db8:1::/48",
        "10.1.0.0/16:80",
    ]
    private static let paths = [
        "/", "/a", "/a/**", "/a/*", "/**", "/a/b*", "*", "/b/*/c", "/**/c", "/b/x/c", "/a/b", "/%61/b", "/a/b/**", "**",
    ]
    private static let headers = [
        "X-A: b", "X-A: \"b*\"", "x-a: \"*\"", "X-A: bc", "X-A: \"*c\"", "X-B: \"**\"", "X-B: b", "x-B: \"b*b\"",
    ]
    private static let users = ["alice", "al*", "\"*\"", "bob", "\"*e\""]

    private static func route(_ number: Int, _ random: inout SeededGenerator) -> String {
        func some(_ words: [String], _ most: Int) -> [String] {
            Array(words.shuffled(using: &random).prefix(Int.random(in: 0...most, using: &random)))
        }
        func quoted(_ words: [String]) -> String { words.map { "\"\($0)\"" }.joined(separator: ", ") }
        var keys: [String] = []
        let (hosts, paths) = (some(Self.hosts, 3), some(Self.paths, 2))
        if !hosts.isEmpty { keys.append("hosts: [\(quoted(hosts))]") }
        if !paths.isEmpty { keys.append("paths: [\(quoted(paths))]") }
        let methods = some(["GET", "PUT"], 2)
        if !methods.isEmpty { keys.append("methods: [\(methods.joined(separator: ", "))]") }
        let schemes = some(["http", "https"], 2)
        if Bool.random(using: &random), !schemes.isEmpty {
            keys.append("schemes: [\(schemes.joined(separator: ", "))]")
        }
        var names: Set<String> = []
        let headers = some(Self.headers, 2).filter { names.insert($0.prefix(3).lowercased()).inserted }
        if Bool.random(using: &random), !headers.isEmpty {
            keys.append("headers: {\(headers.joined(separator: ", "))}")
        }
        for kind in ["users", "tags"] where Int.random(in: 0..<4, using: &random) == 0 {
            let names = some(Self.users, 2)
            if !names.isEmpty { keys.append("\(kind): [\(names.joined(separator: ", "))]") }
        }
        let upstream = Int.random(in: 0..<4, using: &random) == 0 ? ", upstream: \"http://127.0.0.1:9000/\"" : ""
        return "  - {name: r\(number), match: {\(keys.joined(separator: ", "))}\(upstream)}"
    }

    /// For each route the first before it that covers it, each compared with each.
    private static func plain(_ routes: [RouteConfiguration]) -> [Int?] {
        routes.indices.map { later in
            routes[..<later].firstIndex { earlier in
                func covers<Element>(
                    _ list: KeyPath<RouteMatch, [Element]>, all: [Element] = [], by covers: (Element, Element) -> Bool
                ) -> Bool {
                    let wide = earlier.match[keyPath: list]
                    if wide.isEmpty { return true }
                    let written = routes[later].match[keyPath: list]
                    let narrow = written.isEmpty ? all : written
                    return !narrow.isEmpty && narrow.allSatisfy { element in wide.contains { covers($0, element) } }
                }
                let fields = routes[later].match.headers
                return (earlier.servesGateway || !routes[later].servesGateway)
                    && covers(\.hosts) { $0.covers($1) } && covers(\.paths) { $0.covers($1) }
                    && covers(\.methods) { $0 == $1 } && covers(\.schemes, all: [.http, .https]) { $0 == $1 }
                    && earlier.match.headers.allSatisfy { header in fields.contains { header.covers($0) } }
                    && earlier.match.clients.covers(routes[later].match.clients)
            }
        }
    }

    @Test func `the same routes are shadowed by the same ones as if each were compared with each`() throws {
        var (shadowed, free) = (0, 0)
        for number in 0..<120 {
            let seed = Seed.ofThisRun &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            let lines = (0..<40).map { Self.route($0, &random) }
            let yaml = "routes:\n" + lines.joined(separator: "\n")
            let routes = try NamedClientsTests.policy(NamedClientsTests.users + yaml).configuration.routes
            let found = RouteCovers(routes).earlier
            #expect(found == Self.plain(routes), "seed \(seed)\n\(yaml)")
            shadowed += found.count { $0 != nil }
            free += found.count { $0 == nil }
        }
        #expect(shadowed > 200 && free > 200, "\(shadowed) shadowed, \(free) not")
    }

    /// Conditions of routes that no other covers, by a number.
    @Test(arguments: [
        "hosts: [h#.example, shared.example]", "hosts: [shared.example, h#.example]", "hosts: [\"*.h#.example\"]",
        "hosts: [api.example], paths: [\"/p#/**\"]", "paths: [\"/p#\"]", "paths: [\"/p#*\"]",
        "paths: [\"/p#*\", \"/**/q#\"]",
        "headers: {X-Tenant: \"t#.\"}", "headers: {X-All: \"*\", X-Tenant: \"t#.\"}", "headers: {X-Tenant: \"t#.*\"}",
        "hosts: [\"*\"], users: [u#]", "tags: [ci], users: [u#]", "users: [ops], tags: [t#]",
    ])
    func `thousands of routes are compared with few others`(match: String) throws {
        let routes = (0..<2000).map { "  - {name: r\($0), match: {\(match.replacing("#", with: "\($0)"))}}" }
        let covers = RouteCovers(
            try NamedClientsTests.policy(NamedClientsTests.users + "routes:\n" + routes.joined(separator: "\n"))
                .configuration.routes)
        #expect(covers.earlier.allSatisfy { $0 == nil })
        #expect(covers.compared <= 2 * 2000, "\(covers.compared)")
    }

    @Test func `routes behind a wide one are compared with it alone`() throws {
        let routes = (0..<2000).map { "  - {name: r\($0), match: {hosts: [a.example], paths: [\"/p/\($0 % 7)\"]}}" }
        let wide = "routes:\n  - {name: wide, match: {hosts: [\"*.example\"]}}\n"
        let covers = RouteCovers(
            try NamedClientsTests.policy(NamedClientsTests.users + wide + routes.joined(separator: "\n")).configuration
                .routes)
        #expect(covers.earlier == [nil] + Array(repeating: 0, count: 2000))
        #expect(covers.compared == 2000)
    }
}
