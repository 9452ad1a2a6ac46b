// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintlePolicy

/// Files with many problems.
struct ManyProblemsTests {
    private func error(
        _ yaml: String, _ surroundings: LoaderEnvironment = surroundings()
    ) throws -> ConfigurationError {
        try #require(throws: ConfigurationError.self) { try load(yaml, surroundings) }
    }

    private func keys(_ count: Int) -> String { (0..<count).map { "zzzzzzzz\($0): 1\n" }.joined() }

    @Test(.timeLimit(.minutes(15)), arguments: [1, 99, 100, 101, 102, 100_000])
    func `the first hundred problems are told, and the number of the others`(count: Int) throws {
        let error = try self.error("version: 1\n" + self.keys(count))
        let told = min(count, 100)
        let places: [SourcePosition?] = (2..<(2 + told)).map { SourcePosition(line: $0, column: 1) }
        #expect(error.problems.map(\.position) == places)
        #expect(error.count == count)
        #expect(Array(error.lines.prefix(told)) == error.problems.map(\.description))
        let rest: String? =
            switch count - told {
            case 0: nil
            case 1: "and 1 more problem, which comes after these; mend these first"
            default: "and \(count - told) more problems, which come after these; mend these first"
            }
        #expect(error.lines.dropFirst(told).first == rest)
        #expect(error.description == error.lines.joined(separator: "\n"))
    }

    @Test func `the first problems are those that come first in the file, whatever is read first`() throws {
        // Routes are read last.
        let routes = (0..<60).map { "  - {nam: r\($0)}\n" }.joined()
        let yaml = "version: 1\nroutes:\n\(routes)engine:\n" + (0..<60).map { "  k\($0): 1\n" }.joined()
        let error = try self.error(yaml)
        // Each route lacks its name and has an unknown key.
        #expect(error.count == 180)
        #expect(error.problems.count == 100)
        #expect(error.problems.compactMap(\.position?.line) == (0..<100).map { 3 + $0 / 2 })
    }

    @Test func `problems of included files are told after those of the main file`() throws {
        let files = surroundings(files: ["a.yaml": "version: 1\n" + self.keys(50)])
        let error = try self.error("version: 1\ninclude: [a.yaml]\n" + self.keys(80), files)
        #expect(error.problems.filter { $0.position?.file == nil }.count == 80)
        #expect(error.problems.filter { $0.position?.file == "a.yaml" }.count == 20)
        #expect(error.count == 130)
    }

    @Test func `a file is not unreadable if one of many problems has a place`() throws {
        var problems = ConfigurationProblems()
        for number in 0..<200 {
            let position = number == 150 ? SourcePosition(line: 2, column: 1) : nil
            problems.add(ConfigurationProblem(file: "a", position: position, path: "", message: "\(number)"))
        }
        #expect(problems.kept.allSatisfy { $0.position == nil } && !ConfigurationError(problems).isUnreadable)
    }

    @Test func `of a long path the end is told`() throws {
        let deep = (0..<50).map { "{\(String(repeating: "k", count: 80))\($0): " }.joined()
        let document = "\(deep){[x]: y}\(String(repeating: "}", count: 50))"
        let error = try self.error("version: 1\nroutes: [{name: a, mock: [{json: \(document)}]}]")
        let problem = try #require(error.problems.first)
        #expect(problem.message == "a key must be text" && problem.path.hasPrefix("…kkk"))
        #expect(problem.path.utf8.count < 500)
    }

    @Test func `what names a trust policy that was not read whole is not told again`() {
        let routes = (0..<200).map { "  - {name: r\($0), trust: a}\n" }.joined()
        let yaml = "version: 1\nroutes:\n\(routes)trust:\n  a: {pinning: public_key, pins: [x], hots: [y]}\n"
        #expect(problems(yaml) == ["pintle.yaml:204:39: trust.a: unknown key \"hots\"; did you mean \"hosts\"?"])
        let compiled = #expect(throws: ConfigurationError.self) {
            try PolicyLoader.policy(yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: surroundings())
        }
        #expect(compiled?.count == 1)
    }

    private static func many(_ count: Int, _ entry: (Int) -> String) -> String {
        (0..<count).map(entry).joined(separator: ", ")
    }

    /// Files of one kind of entries, each with at least one problem.
    static let large: [String: String] = {
        let policies = Self.many(60_000) { "a\($0): {}" }
        let faultyPolicies = Self.many(60_000) { "a\($0): {pins: 1}" }
        let remotes = Self.many(60_000) { "a\($0): {url: \"https://a.test/\", trust: b}" }
        let files = Self.many(60_000) { "a\($0): {file: x}" }
        let routes = Self.many(60_000) { "{name: r\($0), trust: b\($0)}" }
        let rules = Self.many(60_000) { "{list: b\($0)}" }
        let fields = Self.many(100_000) { "X-\($0): a" }
        let listeners = Self.many(60_000) { "\"127.\($0 / 256).\($0 % 256).1:1\"" }
        let credentials = Self.many(60_000) { "a\($0): {trust: b}" }
        let (methods, others) = (Self.many(60_000) { "M\($0)" }, Self.many(60_000) { "N\($0)" })
        return [
            "trust policies": "trust: {\(faultyPolicies)}",
            "lists at URLs": "lists: {\(remotes)}",
            "names of trust policies": "trust: {\(policies)}\nroutes: [\(routes)]",
            "names of lists": "lists: {\(files)}\ndestinations: {allow: [\(rules)]}",
            "fields that are set": "routes: [{name: a, request: {headers: {set: {\(fields), x-0: b}}}}]",
            "fields that are matched": "routes: [{name: a, match: {headers: {\(fields), x-0: b}}}]",
            "methods": "routes: [{name: a, match: {methods: [\(methods)]}, cors: {methods: [\(others)]}}]",
            "listeners": "listen: [\(listeners)]",
            "credentials": "credentials: {\(credentials)}",
        ]
    }()

    /// With quadratic work each of these would take minutes or hours.
    @Test(.timeLimit(.minutes(15)), arguments: ManyProblemsTests.large.keys.sorted())
    func `thousands of entries of each kind are read in a moment`(kind: String) throws {
        let yaml = try #require(Self.large[kind])
        let error = try self.error("version: 1\n\(yaml)\n")
        #expect(error.lines.count <= 101)
        #expect(error.description.utf8.count < 100_000)
    }

    @Test(.timeLimit(.minutes(15))) func `thousands of rules for named clients are compiled in a moment`() throws {
        let rules = (0..<60_000).map { "{host: a.test, tags: t\($0)}, " }.joined()
        #expect(try policy("destinations: {allow: [\(rules)]}").namedClients.count == 60_000)
    }
}
