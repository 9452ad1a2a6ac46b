// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The outcome of an explained request for scripts, and explanations of exchanges that a proxy has had.
struct ExplainOutcomeTests {
    private static let rules = """
        destinations: {deny: ["*.ads.example"], ask: ["*.maybe.example"]}
        routes: [{name: site, match: {hosts: [127.0.0.1, site.example]}, request: {headers: {set: {X-Key: s3cret}}}}]
        """

    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.file = try self.folder.write("version: 1\n\(Self.rules)\n", to: "p.yaml")
    }

    private func document(_ process: ChildProcess) throws -> JSONObject {
        try jsonObject(process.output.joined(separator: "\n"))
    }

    @Test(arguments: [
        ("GET", "http://site.example/", Int32(0), "pass"), ("GET", "http://x.ads.example/", 1, "refuse"),
        ("GET", "http://x.maybe.example/", 1, "ask"), ("CONNECT", "x.ads.example:443", 1, "refuse"),
        ("CONNECT", "other.example:443", 0, "pass"),
    ])
    func `the exit code says if the rules let a request pass, in both forms`(
        method: String, url: String, code: Int32, outcome: String
    ) throws {
        let text = try PintleProcess.run(["explain", "-c", self.file, method, url])
        #expect(text.exitCode == code && !text.output.isEmpty, "\(text.lines)")
        let json = try PintleProcess.run(["explain", "-c", self.file, "--format", "json", method, url])
        #expect(json.exitCode == code, "\(json.lines)")
        #expect(try self.document(json)["outcome"] as? String == outcome)
        // The topics are those of the text, in its order.
        let why = try #require(try self.document(json)["why"] as? [JSONObject])
        let told = why.map { "\($0["topic"] as? String ?? "") \($0["text"] as? String ?? "")" }
        #expect(told == text.output.map { $0.replacing(/^((?:\S+ ?)+\S|\S+) {2,}/) { "\($0.output.1) " } })
    }

    @Test func `a document has the decision, the places of its rules, and what is sent without secrets`() throws {
        let passed = try self.document(
            try PintleProcess.run(["explain", "-c", self.file, "--format", "json", "GET", "http://site.example/?q=1"]))
        #expect(passed["schema"] as? Int == 1 && passed["configuration"] as? String == self.file)
        #expect(passed.object("request")["url"] as? String == "http://site.example/?q=***")
        #expect(passed.object("decision")["route"] as? String == "site")
        #expect(passed["problem"] == nil)
        let fields = try #require(passed.object("sent")["fields"] as? [[String]])
        #expect(fields.contains(["X-Key", "***"]), "\(fields)")

        let denied = try self.document(
            try PintleProcess.run(["explain", "-c", self.file, "--format", "json", "GET", "http://x.ads.example/"]))
        #expect(denied.object("problem")["name"] as? String == "destination-denied")
        #expect(denied.object("problem")["status"] as? Int == 403)
        #expect(denied.object("decision")["rule"] as? String == "destinations.deny[0] \"*.ads.example\"")
        let why = try #require(denied["why"] as? [JSONObject])
        let rule = try #require(why.first { $0["topic"] as? String == "destination" })
        #expect(rule.object("place")["line"] as? Int == 2 && rule.object("place")["file"] as? String == self.file)
    }

    @Test func `a request that no rule sees is refused in JSON, too`() throws {
        let process = try PintleProcess.run([
            "explain", "-c", self.file, "--format", "json", "GET", "http://a.test/", "-H", "Content-Length: x",
        ])
        #expect(process.exitCode == 1)
        #expect(try self.document(process).object("problem")["name"] as? String == "bad-request", "\(process.lines)")
    }

    @Test func `an exchange is explained by the proxy that had it`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(Self.rules, arguments: ["--admin", "127.0.0.1:0"], folder: self.folder)
        let state = ["XDG_STATE_HOME": self.folder.path]
        _ = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/a?key=hidden")
        _ = try Curl.run(proxy: pintle.port, "http://x.ads.example/")
        let lines = try pintle.waitForExchanges(2)
        let ids = lines.compactMap { $0["id"] as? String }
        let passed = try PintleProcess.run(["explain", ids[0]], environment: state)
        #expect(passed.exitCode == 0, "\(passed.lines)")
        #expect(
            passed.output.contains("request      GET http://127.0.0.1:\(origin.port)/a?key=***, forward"),
            "\(passed.lines)")
        #expect(passed.output.contains("route        site") && !passed.lines.contains { $0.text.contains("hidden") })

        let denied = try PintleProcess.run(["explain", ids[1]], environment: state)
        #expect(denied.exitCode == 1)
        let rule = "destinations.deny[0] \"*.ads.example\""
        #expect(denied.output.contains("decision     deny by \(rule)"), "\(denied.lines)")
        #expect(denied.output.contains("destination  x.ads.example:80 is denied by \(rule)"), "\(denied.lines)")
        #expect(!denied.output.contains { $0.hasPrefix("since then") })

        let json = try PintleProcess.run(["explain", ids[1], "--format", "json"], environment: state)
        #expect(json.exitCode == 1)
        #expect(try self.document(json).object("record")["id"] as? String == ids[1])

        // Reasons are of the configuration in force, which says so if it is another one by now.
        try self.folder.write("version: 1\nlog: {format: json, exchanges: \"-\"}\n", to: "pintle.yaml")
        #expect(try PintleProcess.run(["reload", "--force"], environment: state).exitCode == 0)
        let later = try PintleProcess.run(["explain", ids[1]], environment: state)
        #expect(later.exitCode == 1, "the exchange itself was denied")
        #expect(later.output.contains { $0.hasPrefix("since then   the configuration has changed") }, "\(later.lines)")
        #expect(later.output.contains("destination  x.ads.example:80 is allowed by destinations.default"))

        let unknown = try PintleProcess.run(["explain", "0-0"], environment: state)
        #expect(unknown.exitCode == 4)
        #expect(unknown.errors == ["0-0 is not among the exchanges that are kept; their lines in the log have the id"])
    }

    @Test func `a proxy without an admin endpoint keeps no exchange`() throws {
        let pintle = try PintleProcess("admin: off", folder: self.folder)
        let process = try PintleProcess.run(["explain", "1-1"], environment: ["XDG_STATE_HOME": self.folder.path])
        #expect(process.exitCode == 4)
        #expect(process.errors.first?.contains("keeps no exchanges, as it has no admin endpoint") == true)
        #expect(try pintle.stop() == 0)
    }

    @Test(arguments: [
        (["GET"], "Give a method and a URL, or the id of an exchange."),
        (["1-1", "-H", "A: b"], "leave out -c, --header, --user, --tag and --captured"),
        (["GET", "http://a.test/", "--pid", "1"], "--pid is for an exchange"),
    ])
    func `a request and an exchange have options of their own`(arguments: [String], words: String) throws {
        let process = try PintleProcess.run(["explain"] + arguments, environment: ["XDG_STATE_HOME": "/nonexistent"])
        #expect(process.exitCode == 2 && process.errors.contains { $0.contains(words) }, "\(process.lines)")
    }
}
