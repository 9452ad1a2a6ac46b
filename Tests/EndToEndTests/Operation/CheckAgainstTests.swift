// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `pintle check --against`: what another configuration decides otherwise.
struct CheckAgainstTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func check(_ new: String, against old: String, _ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(
            ["check", "\(self.folder.path)/\(new)", "--against", "\(self.folder.path)/\(old)"] + arguments)
    }

    private func object(_ run: ChildProcess) throws -> [String: any Sendable] {
        try #require(
            JSONSerialization.jsonObject(with: Data(run.output.joined(separator: "\n").utf8)) as? [String: any Sendable]
        )
    }

    @Test(arguments: ["json", "text"]) func `the log of a run is read back against a changed policy (issue 31)`(
        format: String
    ) throws {
        let origin = try RawOrigin(answering: response("12345"))
        let routes = "routes: [{name: a, match: {paths: [\"/a/**\"]}}, {name: b, match: {paths: [\"/b/**\"]}}]\n"
        let log = "\(self.folder.path)/log"
        let pintle = try PintleProcess(routes, log: "{format: \(format), exchanges: \"\(log)\"}")
        let base = "http://127.0.0.1:\(origin.port)"
        for path in ["/a/1?token=secret", "/b/1", "/c", "/a/2"] {
            #expect(try Curl.run(proxy: pintle.port, base + path).status == 200)
        }
        #expect(try Curl.run(proxy: pintle.port, "-d", "body", base + "/b/2").status == 200)
        #expect(try pintle.stop() == 0)

        _ = try self.folder.write("version: 1\n" + routes, to: "old.yaml")
        _ = try self.folder.write(
            "version: 1\ndestinations:\n  deny: [\"127.0.0.1:1\"]\n"
                + routes.replacing("name: a,", with: "name: first,"), to: "new.yaml")
        _ = try self.folder.write("version: 1\ndestinations:\n  deny: [\"127.0.0.0/8\"]\n" + routes, to: "closed.yaml")
        let same = try self.check("old.yaml", against: "old.yaml", "--traffic", log)
        #expect(same.exitCode == 0, "\(same.errors)")
        #expect(same.output == ["0 of 5 exchanges would be decided otherwise"])

        let found = try self.check("new.yaml", against: "old.yaml", "--traffic", log)
        #expect(found.exitCode == 1)
        #expect(
            found.output == [
                "route  GET \(base)/a/1?token=***  line 1  (2 in all)",
                "       before  a  by routes[0] \"a\"  \(self.folder.path)/old.yaml:2:10",
                "       after   first  by routes[0] \"first\"  \(self.folder.path)/new.yaml:4:10",
                "2 of 5 exchanges would be decided otherwise: route 2",
            ])

        let closed = try self.check("closed.yaml", against: "old.yaml", "--traffic", log, "--format", "json")
        #expect(closed.exitCode == 1)
        let report = try self.object(closed)
        let rows = try #require(report["rows"] as? [[String: any Sendable]])
        #expect(rows.map { $0["line"] as? Int } == [1, 2, 3, 4, 5])
        #expect(rows.allSatisfy { $0["kinds"] as? [String] == ["denied"] })
        let summary = try #require(report["summary"] as? [String: any Sendable])
        #expect(summary["exchanges"] as? Int == 5 && summary["otherwise"] as? Int == 5)
        let difference = try #require((summary["differences"] as? [[String: any Sendable]])?.first)
        let after = try #require(difference["after"] as? [String: String])
        #expect(after["rule"] == "destinations.deny[0] \"127.0.0.0/8\"")
        #expect(after["place"] == "\(self.folder.path)/closed.yaml:3:10")
    }

    @Test func `the archive of a run is read back, and what depends on a masked part cannot be told`() throws {
        let origin = try RawOrigin { connection in
            for _ in 0..<2 {
                _ = try connection.readRequest()
                try connection.send(response("12345"))
            }
        }
        _ = try self.folder.write("version: 1\n", to: "old.yaml")
        _ = try self.folder.write(
            "version: 1\nroutes: [{name: a, match: {paths: [/a]}}, {name: e, match: {headers: {Cookie: stage}}}]\n",
            to: "new.yaml")
        let archive = "\(self.folder.path)/run.har"
        let url = "http://127.0.0.1:\(origin.port)"
        let run = try PintleProcess.run([
            "run", "-c", "\(self.folder.path)/old.yaml", "--report", "har=\(archive)", "--", "curl", "-s", "-H",
            "Cookie: prod", url + "/a", url + "/b",
        ])
        #expect(run.exitCode == 0, "\(run.errors)")
        let found = try self.check("new.yaml", against: "old.yaml", "--traffic", archive)
        #expect(found.exitCode == 1)
        #expect(
            found.output.suffix(2) == [
                "1 of 2 exchanges would be decided otherwise: route 1",
                "1 cannot be told: a rule depends on a part that is not recorded, such as a field or an address",
            ])
    }

    @Test func `differences in meaning are told without traffic, and a moved rule is none`() throws {
        let rules = ["  - {name: a, match: {hosts: [a.example]}}\n", "  - {name: b, match: {hosts: [b.example]}}\n"]
        _ = try self.folder.write("version: 1\nroutes:\n" + rules.joined(), to: "old.yaml")
        _ = try self.folder.write("version: 1\nroutes:\n" + rules.reversed().joined(), to: "moved.yaml")
        _ = try self.folder.write(
            "version: 1\nroutes:\n" + rules.joined() + "unpinned_hosts: deny\n", to: "new.yaml")
        let moved = try self.check("moved.yaml", against: "old.yaml")
        #expect(moved.exitCode == 0 && moved.output == ["same in meaning"], "\(moved.output)")
        let found = try self.check("new.yaml", against: "old.yaml", "--format", "json")
        #expect(found.exitCode == 1)
        let report = try self.object(found)
        #expect(report["same"] as? Bool == false && report["exhaustive"] as? Bool == true)
        let differences = try #require(report["differences"] as? [[String: any Sendable]])
        #expect(differences.allSatisfy { $0["kind"] as? String == "denied" } && !differences.isEmpty)
    }

    @Test func `what a command may do, and the words of a denial, are told beside requests`() throws {
        let rule = "destinations: {deny: [{host: ads.example, reason: old words}]}\n"
        _ = try self.folder.write("version: 1\n" + rule, to: "old.yaml")
        _ = try self.folder.write(
            "version: 1\nisolate: {expose: [/run/a]}\n" + rule.replacing("old", with: "new"), to: "new.yaml")
        let found = try self.check("new.yaml", against: "old.yaml")
        #expect(found.exitCode == 1)
        #expect(
            found.output.prefix(3) == [
                "allowed  sockets /run/a, for a command of --isolate", "         before  hidden  by isolate.expose",
                "         after   exposed  by isolate.expose[0]  \(self.folder.path)/new.yaml:2:20",
            ])
        #expect(found.output.contains { $0.hasPrefix("reason   CONNECT ads.example:443") }, "\(found.output)")
        #expect(found.output.last == "2 differences")
    }

    @Test func `files that are none and options that do not fit have their exit codes`() throws {
        _ = try self.folder.write("version: 1\n", to: "old.yaml")
        _ = try self.folder.write("version: 1\nrouts: []\n", to: "broken.yaml")
        _ = try self.folder.write("hello\n", to: "text")
        #expect(try self.check("old.yaml", against: "broken.yaml").exitCode == 3)
        #expect(try self.check("broken.yaml", against: "old.yaml").exitCode == 3)
        #expect(try self.check("old.yaml", against: "missing.yaml").exitCode == 4)
        let traffic = try self.check("old.yaml", against: "old.yaml", "--traffic", "\(self.folder.path)/text")
        #expect(traffic.exitCode == 4)
        #expect(
            traffic.errors.last
                == "pintle check: --traffic: \(self.folder.path)/text:1: neither a line of Pintle's log nor an HTTP archive "
                + "(HAR); give a log of exchanges or a HAR file")
        let alone = try PintleProcess.run(["check", "\(self.folder.path)/old.yaml", "--traffic", "x"])
        #expect(alone.exitCode == 2)
        #expect(alone.errors.contains { $0.contains("--traffic needs --against") }, "\(alone.errors)")
    }
}
