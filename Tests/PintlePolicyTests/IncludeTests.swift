// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// `include`: further files, and the places of mistakes in them.
struct IncludeTests {
    /// An environment with these files, among which patterns of the form `folder/*.yaml` are looked for.
    private func surroundings(_ files: [String: String], environment: [String: String] = [:]) -> LoaderEnvironment {
        var surroundings = PintlePolicyTests.surroundings(environment: environment, files: files)
        surroundings.matches = { pattern in
            let parts = pattern.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
            return files.keys.filter { $0.hasPrefix(parts[0]) && $0.hasSuffix(parts[1]) }.sorted()
        }
        return surroundings
    }

    private func load(_ main: String, _ files: [String: String]) throws -> Configuration {
        try PolicyLoader.configuration(
            yaml: Array("version: 1\n\(main)".utf8), file: "conf/pintle.yaml", surroundings: self.surroundings(files))
    }

    private func problems(_ main: String, _ files: [String: String]) -> [String] {
        do throws(ConfigurationError) {
            _ = try PolicyLoader.policy(
                yaml: Array("version: 1\n\(main)".utf8), file: "conf/pintle.yaml",
                surroundings: self.surroundings(files))
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `routes, trust and destinations come from all files, in a stable order`() throws {
        let configuration = try self.load(
            """
            include: [last.yaml, "teams/*.yaml"]
            destinations: {allow: [main.example]}
            trust: {main: {}}
            routes: [{name: main, trust: b}]
            """,
            [
                "conf/last.yaml": "routes: [{name: last}]\ninclude: deep/one.yaml",
                "conf/deep/one.yaml": "version: 1\nroutes: [{name: one}]",
                "conf/teams/b.yaml": "trust: {b: {}}\nroutes: [{name: b1}, {name: b2, trust: main}]",
                "conf/teams/a.yaml": "destinations: {allow: a.example, deny: [x.example]}\nroutes: [{name: a}]",
                "conf/other.yaml": "nonsense",
            ])
        #expect(configuration.routes.map(\.name) == ["main", "last", "one", "a", "b1", "b2"])
        #expect(configuration.trust.map(\.name) == ["main", "b"])
        #expect(configuration.destinations.allow.map(\.description) == ["main.example", "a.example"])
        #expect(configuration.destinations.deny.map(\.description) == ["x.example"])
        #expect(
            configuration.includedFiles == [
                "conf/last.yaml", "conf/deep/one.yaml", "conf/teams/a.yaml", "conf/teams/b.yaml",
            ])
        #expect(configuration.routes[3].position.description == "conf/teams/a.yaml:2:10")
    }

    @Test func `paths in a file are its own`() throws {
        let files = [
            "conf/team/a.yaml": "routes: [{name: a, response: {placeholder: {file: a.txt}, on_violation: placeholder, "
                + "status: 200}, request: {authorization: {bearer: \"file:token\"}}, upstream: \"https://a\"}]",
            "conf/team/a.txt": "sorry", "conf/team/token": "s3cret",
        ]
        let configuration = try self.load("include: team/a.yaml", files)
        #expect(configuration.routes[0].request.authorization?.value == "Bearer s3cret")
    }

    @Test func `a pattern may match nothing`() throws {
        #expect(try self.load("include: \"teams/*.yaml\"", [:]).includedFiles.isEmpty)
        #expect(try self.load("include: ", [:]).includedFiles.isEmpty)
    }

    @Test(
        arguments: [
            ("include: [no.yaml]", [:], ["conf/pintle.yaml:2:11: include[0]: there is no file conf/no.yaml"]),
            (
                "include: []", [:],
                [
                    "conf/pintle.yaml:2:10: include: an empty list means nothing here; leave the key out or name something"
                ]
            ),
            (
                "include: pintle.yaml", ["conf/pintle.yaml": ""],
                ["conf/pintle.yaml:2:10: include: the file conf/pintle.yaml includes itself"]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "include: b.yaml", "conf/b.yaml": "\ninclude: [a.yaml]"],
                ["conf/b.yaml:2:11: include[0]: the file conf/a.yaml includes itself, by way of conf/b.yaml"]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "include: a.yaml"],
                ["conf/a.yaml:1:10: include: the file conf/a.yaml includes itself"]
            ),
            (
                "include: [a.yaml, \"*.yaml\"]", ["conf/a.yaml": "routes: [{name: a}]"],
                [
                    "conf/pintle.yaml:2:19: include[1]: the file conf/a.yaml is included before; its routes would be there twice"
                ]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "version: 2"],
                ["conf/a.yaml:1:10: version: \"2\": this version of Pintle reads version 1 only"]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "routs: []"],
                ["conf/a.yaml:1:1: unknown key \"routs\"; did you mean \"routes\"?"]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "listen: \"127.0.0.1:1\""],
                [
                    "conf/a.yaml:1:1: \"listen\" stands in the main file; one that is included has version, include, "
                        + "destinations, lists, trust, routes"
                ]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "destinations: {default: deny}"],
                [
                    "conf/a.yaml:1:16: destinations: \"default\" stands in the main file; one that is included has allow, deny"
                ]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "routes: [\n"],
                ["conf/a.yaml:2:1: not valid YAML: a value is due here"]
            ),
            (
                "include: a.yaml\nroutes: [{name: r}]", ["conf/a.yaml": "\nroutes: [{name: r}]"],
                ["conf/a.yaml:2:17: routes[0].name: \"r\" is the name of the route at line 3 too"]
            ),
            (
                "include: [a.yaml, b.yaml]",
                ["conf/a.yaml": "trust: {t: {}}", "conf/b.yaml": "trust:\n  t: {}"],
                ["conf/b.yaml:2:3: trust.t: t is the name of the trust policy at line 1 of conf/a.yaml too"]
            ),
            (
                "include: [a.yaml, b.yaml]",
                ["conf/a.yaml": "trust: {a: {hosts: [x.example]}}", "conf/b.yaml": "trust: {b: {hosts: [x.example]}}"],
                [
                    "conf/b.yaml:1:21: trust.b.hosts[0]: \"x.example\" is in trust.a.hosts too; a host has one trust policy"
                ]
            ),
            (
                "include: a.yaml", ["conf/a.yaml": "routes: [{name: r, trust: nobody}]"],
                [
                    "conf/a.yaml:1:27: routes[0].trust: \"nobody\": there is no such trust policy; define it under trust"
                ]
            ),
            // Errors that only compiling finds have their places, too.
            (
                "include: a.yaml",
                ["conf/a.yaml": "trust: {a: {pinning: public_key, pins: [sha256/x], hosts: [a.example]}}"],
                ["conf/a.yaml:1:41"]
            ),
        ] as [(String, [String: String], [String])])
    func `a mistake has its place`(main: String, files: [String: String], expected: [String]) {
        let found = self.problems(main, files)
        #expect(found.count == expected.count)
        for (problem, start) in zip(found, expected) { #expect(problem.hasPrefix(start), "\(problem)") }
    }

    @Test func `problems of the main file come first`() {
        let found = self.problems(
            "include: a.yaml\nvia: a b", ["conf/a.yaml": "routes: [{nam: x}]"])
        #expect(
            found.map { $0.prefix { $0 != " " } } == [
                "conf/pintle.yaml:3:6:", "conf/a.yaml:1:10:", "conf/a.yaml:1:11:",
            ])
    }

    @Test func `there are not more files than may be`() {
        let files = Dictionary(uniqueKeysWithValues: (0..<257).map { ("conf/d/\($0).yaml", "version: 1") })
        let found = self.problems("include: \"d/*.yaml\"", files)
        #expect(
            found == ["conf/pintle.yaml:2:10: include: conf/d/99.yaml is one too many: at most 256 files are included"])
    }

    @Test func `check and explain name the file of a route`() throws {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\ninclude: a.yaml\nroutes: [{name: all}]".utf8), file: "conf/pintle.yaml",
            surroundings: self.surroundings(["conf/a.yaml": "routes: [{name: late}]"]))
        let finding = Lint(policy, knowsPublicSuffixes: true).findings.last
        #expect(finding?.position.description(inMain: "conf/pintle.yaml") == "conf/a.yaml:1:10")
        #expect(
            finding?.message
                == "\"late\" is never used: \"all\" at line 3 comes first and matches everything that it does")
    }
}
