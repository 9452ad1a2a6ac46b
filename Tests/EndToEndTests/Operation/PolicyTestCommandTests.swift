// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `pintle test`: policy tests by the program itself.
struct PolicyTestCommandTests {
    private static let configuration = """
        version: 1
        destinations: {deny: ["*.ads.example", "*.unused.example"]}
        routes:
          - name: charge
            match: {hosts: [api.pay.example], methods: [POST]}
            response: {body: json}
          - {name: other, match: {hosts: [other.example]}}
        """
    private static let good = """
        - name: ads are refused
          request: {url: "http://x.ads.example/"}
          expect: {decision: deny, rule: "destinations.deny[0]"}
        - name: a page is no answer
          request: {method: POST, url: "http://api.pay.example/"}
          response: {body: "<p>"}
          violations: [response-content-type]
        """
    private static let bad = """
        - name: ads <pass>
          request: {url: "http://x.ads.example/"}
          expect: {decision: allow}
        """

    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.file = try self.folder.write(Self.configuration, to: "p.yaml")
    }

    private func test(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(["test", "-c", self.file] + arguments)
    }

    @Test func `tests that pass are counted`() throws {
        let tests = try self.folder.write(Self.good, to: "tests/deep/good.pintle-test.yaml")
        try self.folder.write("- no test", to: "tests/notes.yaml")
        for name in [tests, "\(self.folder.path)/tests", "\(self.folder.path)/tests/deep/*.pintle-test.yaml"] {
            let child = try self.test(name)
            #expect(child.exitCode == 0 && child.output == ["2 tests in 1 file: 2 passed, 0 failed"], "\(child.lines)")
        }
    }

    @Test func `a test that fails tells what differs, why, and where`() throws {
        let good = try self.folder.write(Self.good, to: "a.pintle-test.yaml")
        let bad = try self.folder.write(Self.bad, to: "b.pintle-test.yaml")
        let child = try self.test(good, bad)
        #expect(child.exitCode == 1)
        #expect(child.output.first == "\(bad):1:3: failed: ads <pass>")
        #expect(child.output.contains("  \(bad):3:22: decision: expected allow, found deny"), "\(child.output)")
        let reason =
            "    destination  x.ads.example:80 is denied by destinations.deny[0] \"*.ads.example\" (\(self.file):2:23)"
        #expect(child.output.contains(reason), "\(child.output)")
        #expect(child.output.last == "3 tests in 2 files: 2 passed, 1 failed")
    }

    @Test func `coverage tells the parts that no test reaches, with their places`() throws {
        let tests = try self.folder.write(Self.good, to: "a.pintle-test.yaml")
        let child = try self.test("--coverage", tests)
        #expect(
            child.exitCode == 0
                && child.output == [
                    "\(self.file):2:40: destinations.deny[1] \"*.unused.example\": no test reaches this rule",
                    "\(self.file):7:5: routes[1] \"other\": no test reaches this route",
                    "coverage: rules 1 of 2 (50 %), routes 1 of 2 (50 %), contracts 1 of 1 (100 %)",
                    "2 tests in 1 file: 2 passed, 0 failed",
                ], "\(child.output)")
    }

    @Test func `faults of files exit with 3, missing files with 4, and wrong options with 2`() throws {
        let wrong = try self.folder.write("- {nam: x}\n", to: "wrong.pintle-test.yaml")
        let child = try self.test(wrong)
        #expect(child.exitCode == 3 && child.output.isEmpty)
        #expect(child.errors.contains { $0.hasPrefix("\(wrong):1:4: [0]: unknown key \"nam\"; did you mean") })
        try self.folder.write("", to: "empty/notes.txt")
        let empty = try self.test("\(self.folder.path)/empty")
        #expect(empty.exitCode == 3 && empty.errors.contains { $0.contains("there is no *.pintle-test.yaml in") })
        #expect(try self.test("\(self.folder.path)/nowhere").exitCode == 4)
        #expect(try self.test().exitCode == 2)
        #expect(try self.test("--report", "xml=a", wrong).exitCode == 2)
        #expect(try self.test("--from", "log", wrong).exitCode == 2)
        let broken = try self.folder.write("version: 2", to: "broken.yaml")
        #expect(try PintleProcess.run(["test", "-c", broken, wrong]).exitCode == 3)
    }

    @Test func `the configuration names a folder, and check tells routes that it does not reach`() throws {
        let file = try self.folder.write(Self.configuration + "\ntests: policy", to: "named.yaml")
        try self.folder.write(Self.good, to: "policy/a.pintle-test.yaml")
        #expect(try PintleProcess.run(["test", "-c", file]).output == ["2 tests in 1 file: 2 passed, 0 failed"])
        let check = try PintleProcess.run(["check", file])
        #expect(check.exitCode == 0)
        let warnings = check.output.filter { $0.contains("reaches this route") }
        #expect(
            warnings == [
                "\(file):7:5: warning: routes[1] \"other\": no test in \(self.folder.path)/policy reaches this route"
            ], "\(check.output)")
    }

    @Test func `every report has the failure, and is valid by the schema of its format`() throws {
        let bad = try self.folder.write(Self.good + "\n" + Self.bad, to: "b.pintle-test.yaml")
        var arguments = ["--coverage"]
        for format in ["json", "junit", "sarif", "markdown"] {
            arguments += ["--report", "\(format)=\(self.folder.path)/r.\(format)"]
        }
        let child = try PintleProcess.run(["test", "-c", self.file, bad] + arguments)
        #expect(child.exitCode == 1)
        func text(_ format: String) throws -> String {
            try String(contentsOfFile: "\(self.folder.path)/r.\(format)", encoding: .utf8)
        }
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(try text("json").utf8)) as? [String: Any])
        #expect((json["summary"] as? [String: Int]) == ["tests": 3, "failed": 1])
        let coverage = try #require(json["coverage"] as? [String: [String: Any]])
        #expect(coverage["routes"]?["percentage"] as? Int == 50)
        #expect(try text("junit").contains("<failure message=\"decision: expected allow, found deny\""))
        #expect(try text("markdown").contains("| ads &lt;pass&gt; |"))
        #expect(try text("sarif").contains("\"startLine\": 10"))
        #expect(try ReportSchemas.junitProblems(try text("junit")) == [])
        if ReportSchemas.isAvailable { #expect(try ReportSchemas.sarifProblems(try text("sarif")) == []) }
    }

    @Test func `tests that are written from the log of a run pass, and hold no secret`() throws {
        let origin = try RawOrigin(answering: response("[]"))
        let base = "http://127.0.0.1:\(origin.port)"
        let pintle = try PintleProcess(
            "destinations: {deny: [\"*.ads.example\"]}\nroutes: [{name: local, match: {hosts: [127.0.0.1], paths: [/a]}}]",
            folder: self.folder)
        for url in ["\(base)/a?token=s3cret&page=1", "\(base)/b", "\(base)/b", "http://x.ads.example/"] {
            _ = try Curl.run(proxy: pintle.port, url)
        }
        _ = try pintle.waitForExchanges(4)
        let log = try self.folder.write(
            pintle.process.output.filter { $0.contains("\"decision\"") }.joined(separator: "\n"), to: "exchanges.log")
        let configuration = "\(self.folder.path)/pintle.yaml"
        let written = try PintleProcess.run(["test", "-c", configuration, "--from", log])
        #expect(written.exitCode == 0 && written.output.filter { $0.hasPrefix("- name:") }.count == 3)
        #expect(!written.output.joined().contains("s3cret"))
        let tests = try self.folder.write(
            written.output.joined(separator: "\n"), to: "written.pintle-test.yaml")
        let child = try PintleProcess.run(["test", "-c", configuration, tests])
        #expect(
            child.exitCode == 0 && child.output == ["3 tests in 1 file: 3 passed, 0 failed"],
            "\(child.lines) \(written.output)")
        _ = try pintle.stop()
    }

    @Test(arguments: [([], "pintle.schema.json"), (["--tests"], "pintle-test.schema.json")])
    func `the schemas for editors are those of the repository`(options: [String], name: String) throws {
        let child = try PintleProcess.run(["config", "schema"] + options)
        let folders = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let file = try String(contentsOfFile: "/\(folders)/conf/\(name)", encoding: .utf8)
        #expect(child.exitCode == 0 && child.output.joined(separator: "\n") + "\n" == file)
    }

    @Test func `with --watch the tests run again when a test or the configuration changes`() throws {
        let tests = try self.folder.write(Self.good, to: "tests/a.pintle-test.yaml")
        let watch = try ChildProcess(
            PintleProcess.binary, ["test", "-c", self.file, "--watch", "\(self.folder.path)/tests"])
        defer { watch.signal(SIGKILL) }
        _ = try watch.waitForLine("the first run") { $0 == "2 tests in 1 file: 2 passed, 0 failed" }
        try self.folder.write("- {nam: x}\n", to: "tests/a.pintle-test.yaml")
        _ = try watch.waitForLine("the fault") { $0.hasPrefix("\(tests):1:4: ") }
        try self.folder.write(Self.bad, to: "tests/a.pintle-test.yaml")
        _ = try watch.waitForLine("the failure") { $0 == "1 test in 1 file: 0 passed, 1 failed" }
        try self.folder.write("version: 1", to: "p.yaml")
        _ = try watch.waitForLine("the other configuration") { $0 == "1 test in 1 file: 1 passed, 0 failed" }
        try self.folder.write(Self.good, to: "tests/b.pintle-test.yaml")
        _ = try watch.waitForLine("the new file") { $0 == "3 tests in 2 files: 1 passed, 2 failed" }
    }
}
