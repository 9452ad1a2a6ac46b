// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTesting
import PintleWatch
import Testing

@testable import PintleRehearsal

/// Differences for commands: other protocols, the words of denials, credentials, and what is exposed to isolated ones.
@Suite struct CommandDifferenceTests {
    private static func compare(_ old: String, _ new: String) throws -> TableComparison {
        let files = ["old.yaml": "version: 1\n" + old, "new.yaml": "version: 1\n" + new]
        let surroundings = LoaderEnvironment(
            environment: ["TOKEN": "0123456789abcdef"],
            read: { (path, _) throws(LoaderEnvironment.ReadingError) in
                guard let text = files[path] else { throw .notFound }
                return Array(text.utf8)
            },
            exists: { files[$0] != nil })
        func load(_ file: String) throws -> TableComparison.Loaded {
            (
                try PolicyLoader.policy(yaml: Array((files[file] ?? "").utf8), file: file, surroundings: surroundings),
                file
            )
        }
        return TableComparison(from: try load("old.yaml"), to: try load("new.yaml"), surroundings: surroundings)
    }

    private static func words(_ found: TableComparison) -> [String] {
        found.differences.map { difference in
            let sides = [difference.before, difference.after].map { side in
                "\(side.decision) by \(side.rule ?? "-") \(side.place ?? "-")"
            }
            return "\(difference.kind.name) \(difference.witness): \(sides.joined(separator: "; "))"
        }
    }

    // MARK: Other protocols

    @Test func `a host and port that other protocols may reach is told as such`() throws {
        let closed = "destinations: {default: deny, allow: [db.example]}\n"
        let open = closed.replacing("[db.example]", with: "[db.example, \"tcp://db.example:5432\"]")
        let rule = "destinations.allow[1] \"tcp://db.example:5432\""
        #expect(
            Self.words(try Self.compare(closed, open)) == [
                "allowed tcp://db.example:5432: deny by isolate.other_tcp deny -; allow by \(rule) new.yaml:2:51"
            ])
        #expect(
            Self.words(try Self.compare(open, closed)) == [
                "denied tcp://db.example:5432: allow by \(rule) old.yaml:2:51; deny by isolate.other_tcp deny -"
            ])
        #expect(try Self.compare(open, open).isSame)
    }

    @Test func `a rule that lets requests pass, too, is told for both`() throws {
        let found = try Self.compare(
            "destinations: {default: deny}\n", "destinations: {default: deny, allow: [\"tcp://db.example:5432\"]}\n")
        #expect(found.differences.map(\.kind.name) == ["allowed", "allowed"])
        #expect(found.differences.map(\.witness) == ["CONNECT db.example:5432", "tcp://db.example:5432"])
    }

    @Test func `other_tcp is told as the connections that it lets pass`() throws {
        let found = try Self.compare(
            "destinations: {deny: [ads.example]}\n",
            "isolate: {other_tcp: allow}\ndestinations: {deny: [ads.example]}\n")
        #expect(found.differences.map(\.kind) == [.plan(.allowed)], "\(found.differences)")
        let difference = try #require(found.differences.first)
        #expect(difference.witness.hasPrefix("tcp://") && !difference.witness.contains("ads.example"))
        #expect(
            difference.before.rule == "isolate.other_tcp deny" && difference.after.rule == "isolate.other_tcp allow")
        #expect(difference.after.place == "new.yaml:2:11")
        // It decides nothing if no destination is allowed.
        let nothing = "destinations: {default: deny}\n"
        #expect(try Self.compare(nothing, "isolate: {other_tcp: allow}\n" + nothing).isSame)
    }

    // MARK: Reasons

    @Test func `other words for a denial are told with both`() throws {
        let old = "destinations: {deny: [{host: ads.example, reason: old words}]}\n"
        let rule = "destinations.deny[0] \"ads.example\""
        #expect(
            Self.words(try Self.compare(old, old.replacing("old", with: "new"))) == [
                "reason CONNECT ads.example:443: old words by \(rule) old.yaml:2:23; new words by \(rule) new.yaml:2:23"
            ])
        #expect(
            Self.words(try Self.compare(old, old.replacing(", reason: old words", with: ""))) == [
                "reason CONNECT ads.example:443: old words by \(rule) old.yaml:2:23; no reason by \(rule) new.yaml:2:23"
            ])
        let network = old.replacing("ads.example", with: "192.0.2.0/24")
        #expect(try Self.compare(network, network.replacing("old", with: "new")).differences.map(\.kind) == [.reason])
    }

    @Test func `words that no client gets are no difference`() throws {
        let old = "destinations: {deny: [\"*.example\", {host: ads.example, reason: old words}]}\n"
        let found = try Self.compare(old, old.replacing("old", with: "new"))
        #expect(found.isSame, "\(found.differences)")
    }

    // MARK: Credentials

    private static let credential = """
        trust: {github: {hosts: [api.github.example], min_tls: "1.2"}}
        credentials:
          github:
            value: "env:TOKEN"
            for: [{hosts: [api.github.example], methods: [GET], paths: ["/repos/**"], in: [header]}]
            trust: github

        """

    struct Mutation: Sendable {
        let old: String
        let new: String
        let kind: PlanComparison.Kind
        let witness: String
        let before: String
        let after: String

        init(
            _ old: String, _ new: String, _ kind: PlanComparison.Kind, _ witness: String, _ before: String,
            _ after: String
        ) {
            (self.old, self.new, self.kind, self.witness) = (old, new, kind, witness)
            (self.before, self.after) = (before, after)
        }
    }

    private static let released = "credential github in header, by the trust policy github"
    private static let held = "no credential github"

    @Test(arguments: [
        Mutation("[GET]", "[GET, POST]", .allowed, "POST https://api.github.example/repos/", Self.held, Self.released),
        Mutation("methods: [GET], ", "", .allowed, "POST https://api.github.example/repos/", Self.held, Self.released),
        Mutation(
            "\"/repos/**\"", "\"/repos/**\", \"/user\"", .allowed, "GET https://api.github.example/user", Self.held,
            Self.released),
        Mutation(
            "\"/repos/**\"", "\"/repos/acme/**\"", .denied, "GET https://api.github.example/repos/", Self.released,
            Self.held),
        Mutation(
            "api.github.example], methods", "\"api.github.example:8443\"], methods", .denied,
            "GET https://api.github.example/repos/", Self.released, Self.held),
        Mutation(
            "in: [header]", "in: [header, query]", .allowed, "GET https://api.github.example/repos/", Self.released,
            "credential github in header, query, by the trust policy github"),
        Mutation(
            "in: [header]", "in: [body]", .allowed, "GET https://api.github.example/repos/", Self.released,
            "credential github in body, by the trust policy github"),
        Mutation(
            "    trust: github", "    trust: default", .denied, "GET https://api.github.example/repos/", Self.released,
            Self.held),
    ])
    func `a credential that goes elsewhere is told with a request`(mutation: Mutation) throws {
        let changed = Self.credential.replacing(mutation.old, with: mutation.new)
        #expect(changed != Self.credential)
        let found = try Self.compare(Self.credential, changed)
        #expect(found.isExhaustive && found.differences.count == 1, "\(Self.words(found))")
        let difference = try #require(found.differences.first)
        #expect(
            difference.kind == .plan(mutation.kind) && difference.witness.hasPrefix(mutation.witness), "\(difference)")
        #expect(difference.before.decision == mutation.before && difference.after.decision == mutation.after)
        #expect(
            [difference.before, difference.after].map(\.rule) == ["credentials.github", "credentials.github"]
                && difference.before.place == "old.yaml:4:3" && difference.after.place == "new.yaml:4:3")
    }

    @Test func `a credential under another trust is released anew`() throws {
        let trusts = Self.credential.replacing("\"1.2\"}}", with: "\"1.2\"}, open: {min_tls: \"1.2\"}}")
        let old = "routes: [{name: r, match: {hosts: [api.github.example]}, trust: github}]\n" + trusts
        let new = old.replacing("trust: github}]", with: "trust: open}]")
            .replacing("    trust: github", with: "    trust: open")
        let found = try Self.compare(old, new)
        let rows = found.differences.filter { $0.before.decision.hasPrefix("credential ") }
        #expect(rows.map(\.kind) == [.plan(.allowed)], "\(Self.words(found))")
        #expect(rows.first?.after.decision == "credential github in header, by the trust policy open")
    }

    @Test func `grants that no request can use are no difference`() throws {
        // The other host is judged by another trust policy, which holds the credential back.
        let found = try Self.compare(
            Self.credential,
            Self.credential.replacing("api.github.example], methods", with: "api.github.example, x.example], methods"))
        #expect(found.isSame, "\(Self.words(found))")
    }

    @Test func `a secret that is none any more is a permission, and where it comes from is a setting`() throws {
        let trust = String(Self.credential.prefix { $0 != "\n" }) + "\n"
        let gone = Self.words(try Self.compare(Self.credential, trust))
        #expect(
            gone.first
                == "allowed the value of credential github: the command has a placeholder by credentials.github old.yaml:4:3; "
                + "the command may read it by credentials.github -")
        #expect(gone.count == 2 && gone[1].hasPrefix("denied GET https://api.github.example/repos/"), "\(gone)")
        let added = try Self.compare(trust, Self.credential).differences.map(\.kind.name)
        #expect(added == ["denied", "allowed"])
        let moved = try Self.compare(
            Self.credential,
            Self.credential.replacing("    trust: github", with: "    variable: OTHER\n    trust: github"))
        #expect(moved.differences.map(\.kind) == [.setting] && moved.differences.first?.witness == "credentials.github")
    }

    @Test func `paths behind a gateway that changes them are not exhausted`() throws {
        let route = "routes: [{name: g, match: {hosts: [gw.example]}, upstream: \"https://api.github.example/v1/\"}]\n"
        let rules = route + Self.credential
        #expect(try Self.compare(rules, rules).isSame)
        let found = try Self.compare(rules, rules.replacing("\"/repos/**\"", with: "\"/v1/x\""))
        #expect(!found.isExhaustive && !found.isSame)
    }

    // MARK: Isolation

    @Test func `what is exposed to a command, and what is captured of it, is told as permissions`() throws {
        let old = "isolate: {capture: off, expose: [/run/a, \"fd:7\"]}\n"
        #expect(
            Self.words(try Self.compare(old, "isolate: {expose: [\"fd:7\", /run/b]}\n")) == [
                "allowed connections of a command of --isolate that does not ask the proxy: refused by isolate.capture "
                    + "old.yaml:2:11; judged by the rules by isolate.capture new.yaml:2:1",
                "denied sockets /run/a, for a command of --isolate: exposed by isolate.expose[0] old.yaml:2:34; "
                    + "hidden by isolate.expose new.yaml:2:11",
                "allowed sockets /run/b, for a command of --isolate: hidden by isolate.expose old.yaml:2:25; "
                    + "exposed by isolate.expose[1] new.yaml:2:28",
            ])
        #expect(Self.words(try Self.compare(old, "isolate: {}\n")).last?.hasPrefix("denied descriptor 7, ") == true)
    }
}
