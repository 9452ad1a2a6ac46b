// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintlePolicy
import PintleSession
import PintleTrust
import Testing

/// `lists` in the configuration: what is read, and what is refused.
struct ListLoadingTests {
    private static let files = ["ads.txt": "ads.example\n", "bad.txt": "good.example\n||ads^\n\nno no\n"]

    private func problems(_ yaml: String, _ files: [String: String] = Self.files) -> [String] {
        PintlePolicyTests.problems("version: 1\n\(yaml)", surroundings(files: files))
    }

    private func draft(_ yaml: String) throws -> PolicyDraft {
        try PolicyLoader.draft(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml", surroundings: surroundings(files: Self.files))
    }

    @Test func `a list has a file, or a URL with its trust and times`() throws {
        let configuration = try load(
            """
            version: 1
            trust: {partners: {roots: system}}
            lists:
              ads: {file: ads.txt}
              far: {url: "https://lists.example/a.txt?x=1"}
              near: {url: "https://lists.example:8443/b.txt", trust: partners, every: 5m, timeout: 3s}
            """, surroundings(files: Self.files))
        #expect(configuration.lists.map(\.name) == ["ads", "far", "near"])
        #expect(configuration.lists[0].source == .file("ads.txt") && configuration.lists[0].hosts.count == 1)
        let (far, near) = (configuration.lists[1].remote, configuration.lists[2].remote)
        #expect(far?.url.description == "https://lists.example/a.txt?x=1" && far?.trust == nil)
        #expect(far?.every == .seconds(3600) && far?.timeout == .seconds(10))
        #expect(near?.trust?.value == "partners" && near?.every == .seconds(300) && near?.timeout == .seconds(3))
    }

    @Test(
        arguments: [
            (
                "lists: {a: {}}",
                "lists.a: the key \"file\" is missing, or \"url\": the text of the list, with a host on each line"
            ),
            (
                "lists: {a: {file: ads.txt, url: \"https://a.test/\"}}",
                "lists.a.url: a list has a file or a url; make two lists of them"
            ),
            ("lists: {a: {file: none.txt}}", "lists.a.file: there is no file none.txt"),
            (
                "lists: {a: {file: ads.txt, every: 1h}}",
                "lists.a.every: belongs to a url; a file is read when the configuration is"
            ),
            (
                "lists: {a: {file: ads.txt, timeout: 1s}}",
                "lists.a.timeout: belongs to a url; a file is read when the configuration is"
            ),
            ("lists: {\"a b\": {file: ads.txt}}", "lists.a b: a name has 1 to 64 letters, digits and -._"),
            (
                "lists: {a: {url: \"http://a.test/\"}}",
                "lists.a.url: \"http://a.test/\": must be https: a list decides where requests may go; on this machine it is a file"
            ),
            ("lists: {a: {url: \"https://a.test/\", every: 10ms}}", "lists.a.every: \"10ms\": must be from 1s to 30d"),
            (
                "lists: {a: {url: \"https://a.test/\", timeout: 1h}}",
                "lists.a.timeout: \"1h\": must be from 100ms to 5m"
            ),
            ("lists: {a: {url: \"https://a.test/\", trust: pay}}", "lists.a.trust: there is no trust policy pay"),
            (
                "lists: {a: {url: \"https://127.0.0.1:3128/\"}}",
                "lists.a.url: 127.0.0.1:3128 is this proxy, which listens on 127.0.0.1:3128: a loop"
            ),
            (
                "trust: {lax: {enforcement: report}}\nlists: {a: {url: \"https://a.test/\", trust: lax}}",
                "lists.a.trust: lax only reports what does not satisfy it, so that anybody on the way could change the list"
            ),
            (
                "trust: {lax: {hosts: [a.test], enforcement: report}}\nlists: {a: {url: \"https://a.test/\"}}",
                "lists.a.url: lax, the trust policy for a.test:443, only reports what does not satisfy it, so that anybody "
                    + "on the way could change the list; name another one with trust"
            ),
            (
                "destinations: {deny: [{list: ads}]}",
                "destinations.deny[0].list: there is no list \"ads\"; write lists: {ads: {file: FILE}}"
            ),
            (
                "lists: {ads: {file: ads.txt}}\ndestinations: {allow: [a.test, {list: adz}]}",
                "destinations.allow[1].list: there is no list \"adz\"; did you mean \"ads\"?"
            ),
            (
                "lists: {ads: {file: ads.txt}}\ndestinations: {deny: [{list: ads, host: a.test}]}",
                "destinations.deny[0].list: a rule is about a host or a list; make two rules of them"
            ),
            (
                "destinations: {deny: [{reason: x}]}",
                "destinations.deny[0]: the key \"host\" is missing, a pattern, or \"list\", the name of a list of hosts"
            ),
            (
                "lists: {ads: {file: ads.txt}}\ndestinations: {ask: [{list: ads}]}",
                "destinations.ask[0]: a question is about a pattern, and for every client; allow and deny take lists of hosts "
                    + "and name clients"
            ),
        ])
    func `a mistake has its place and a remedy`(yaml: String, message: String) {
        let problems = self.problems(yaml)
        #expect(problems.count == 1 && problems[0].hasSuffix(": \(message)"), "\(problems)")
    }

    @Test func `user information is refused in a URL`() {
        let problems = self.problems("lists: {a: {url: \"https://u:p@a.test/\"}}")
        #expect(problems.count == 1 && problems[0].contains("lists.a.url: "), "\(problems)")
    }

    @Test func `each bad line of a file is a problem`() {
        let problems = self.problems("lists: {a: {file: bad.txt}}")
        #expect(problems.count == 2)
        #expect(problems.allSatisfy { $0.hasPrefix("pintle.yaml:2:19: lists.a.file: the list bad.txt, line ") })
        #expect(problems[0].contains("line 2: not a host name") && problems[1].contains("line 4: a line has one host"))
    }

    @Test func `names are unique across files, and a file names lists relative to itself`() throws {
        var files = Self.files
        files["conf/team.yaml"] = """
            lists: {team: {file: team.txt}}
            destinations: {deny: [{list: team}, {list: main}]}
            """
        files["conf/team.txt"] = "team.example\n"
        files["main.txt"] = "main.example\n"
        let main =
            "version: 1\ninclude: conf/team.yaml\nlists: {main: {file: main.txt}}\ndestinations: {deny: [{list: team}]}"
        let policy = try PolicyLoader.policy(
            yaml: Array(main.utf8), file: "pintle.yaml", surroundings: surroundings(files: files))
        #expect(policy.configuration.lists.map(\.source) == [.file("main.txt"), .file("conf/team.txt")])
        #expect(policy.configuration.destinations.lists == ["team", "team", "main"])
        files["conf/team.yaml"] = "lists: {main: {file: team.txt}}"
        #expect(
            PintlePolicyTests.problems(main.replacing("[{list: team}]", with: "[]"), surroundings(files: files)) == [
                "conf/team.yaml:1:9: lists.main: main is the name of the list at line 3 too"
            ])
    }

    // MARK: Lists of other machines

    @Test func `a draft says how its lists are fetched`() throws {
        let draft = try self.draft(
            """
            upstream_proxy: {url: "http://parent.test:3128", no_proxy: ["*.near.example"]}
            trust:
              partners: {pinning: public_key, pins: ["\(Pins.one)", "\(Pins.two)"]}
              host: {hosts: [lists.near.example], pinning: public_key, pins: ["\(Pins.two)", "\(Pins.one)"]}
            lists:
              a: {url: "https://lists.near.example/", trust: partners}
              b: {url: "https://lists.near.example/"}
              c: {url: "https://far.example/", timeout: 2s}
              d: {file: ads.txt}
              e: {url: "https://lists.near.example/", trust: default}
            """)
        let fetches = draft.fetches
        #expect(fetches.map(\.name) == ["a", "b", "c", "e"])
        let policies = draft.policy.securityPolicies
        #expect(fetches[0].trust == policies[0] && fetches[1].trust == policies[1])
        #expect(fetches[2].trust == .default && fetches[3].trust == .default)
        #expect(fetches.map { $0.proxy?.authority.host } == [nil, nil, "parent.test", nil])
        #expect(fetches[2].timeout == .seconds(2) && fetches[2].every == .seconds(3600))
    }

    @Test func `a policy has the lists that were fetched, or none of it is used`() throws {
        let draft = try self.draft(
            "lists: {a: {url: \"https://a.test/\"}}\ndestinations: {deny: [{list: a}]}")
        let list = HostListText(Array("x.example\n".utf8)).list
        let time = Timestamp(milliseconds: 1_800_000_000_000)
        let policy = try draft.policy { name throws(Malformed) in
            #expect(name == "a")
            return PolicyDraft.Fetched(hosts: list, confirmed: time)
        }
        let authority = try #require(Authority("x.example", defaultPort: 80))
        #expect(
            policy.destinations.judge(authority, for: .none).denial
                == "destinations.deny[0] list \"a\" line 1 \"x.example\"")
        #expect(policy.configuration.lists[0].remote?.confirmed == time)
        let error = #expect(throws: ConfigurationError.self) {
            try draft.policy { _ throws(Malformed) in throw Malformed("it is away") }
        }
        #expect(error?.description == "pintle.yaml:2:9: lists.a: it is away")
    }

    // MARK: Findings

    private func warnings(_ yaml: String) throws -> [String] {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml", surroundings: surroundings(files: Self.files))
        return Lint(policy, knowsPublicSuffixes: true).findings.filter { $0.severity == .warning }
            .map { "\($0.path): \($0.message)" }
    }

    @Test func `an upstream is judged by lists as requests to it are`() throws {
        let route = "routes: [{name: r, upstream: \"https://ads.example\"}]"
        #expect(
            try self.warnings(
                "lists: {ads: {file: ads.txt}}\ndestinations: {default: deny, allow: [{list: ads}]}\n\(route)") == [])
        #expect(
            try self.warnings("lists: {ads: {file: ads.txt}}\ndestinations: {deny: [{list: ads}]}\n\(route)") == [
                "routes[0].upstream: ads.example:443 is refused by destinations.deny[0] list \"ads\" line 1 \"ads.example\"; "
                    + "requests of this route can only fail"
            ])
    }

    @Test func `a list that no rule names is a finding, and each list is noted`() throws {
        #expect(
            try self.warnings("lists: {ads: {file: ads.txt}}") == [
                "lists.ads: is never used: no rule of destinations.allow and destinations.deny names it, as {list: ads} does"
            ])
        #expect(try self.warnings("lists: {ads: {file: ads.txt}}\ndestinations: {deny: [{list: ads}]}").isEmpty)
        let policy = try self.draft("lists: {ads: {file: ads.txt}}\ndestinations: {deny: [{list: ads}]}").policy
        let notes = Lint(policy, knowsPublicSuffixes: true).findings.filter { $0.path == "lists.ads" }
        #expect(notes.map(\.message) == ["1 entry, from ads.txt"])
    }

    @Test func `a rule that a list of denials covers is a finding`() throws {
        #expect(
            try self.warnings(
                "lists: {ads: {file: ads.txt}}\ndestinations: {deny: [{list: ads}], allow: [ads.example]}")
                == [
                    "destinations.allow[0]: \"ads.example\" is never allowed: destinations.deny has list \"ads\" with "
                        + "\"ads.example\" in line 1, and denials come first"
                ])
    }

    @Test func `the values of a list's query are in no message`() throws {
        let draft = try PolicyLoader.draft(
            yaml: Array("version: 1\nlists: {a: {url: \"https://a.test/x?key=secret\"}}".utf8), file: "pintle.yaml",
            surroundings: surroundings())
        #expect(draft.fetches.map(\.shownURL) == ["https://a.test/x?key=***"])
        let notes = Lint(draft.policy).findings.map(\.message)
        #expect(notes.contains { $0.contains("from https://a.test/x?key=***") } && !"\(notes)".contains("secret"))
    }
}
