// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Programs that find the private proxy by their environment, and the reports on them.
struct RunRequestTests {
    private let origin: RawOrigin

    init() throws {
        self.origin = try RawOrigin(answering: response("done", fields: "Content-Type: text/plain\r\n"))
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)/" }
    private var authority: String { "127.0.0.1:\(self.origin.port)" }

    /// Programs that read the environment, each asking for an URL and printing the answer.
    static let clients: [(name: String, command: @Sendable (String) -> [String])] = [
        ("curl", { ["curl", "-sS", $0] }), ("wget", { ["wget", "-q", "-O", "-", $0] }),
        (
            "python3",
            {
                [
                    "/usr/bin/python3", "-c",
                    "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1]).read().decode())", $0,
                ]
            }
        ),
    ]

    @Test(arguments: RunRequestTests.clients.map(\.name))
    func `a program's request goes through the proxy`(name: String) throws {
        let stage = try RunStage()
        let client = try #require(Self.clients.first { $0.name == name })
        let process = try stage.run(["--report", "json=report.json"], client.command(self.url))
        #expect(process.exitCode == 0 && process.output == ["done"], "\(process.lines)")
        #expect(self.origin.requests.last?.head["Via"]?.hasPrefix("1.1 pintle-") == true)
        let report = try stage.report()
        #expect(report.object("summary").number("requests") == 1)
        #expect(report.objects("hosts").map { $0.text("host") } == [self.authority])
        #expect(process.errors.first == "pintle: 1 request (pintle.yaml)", "\(process.errors)")
        #expect(process.errors.last?.split(separator: " ").first == self.authority[...])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/java"), "there is no Java here"))
    func `Java is led to the proxy by its options, and keeps those of others`() throws {
        let stage = try RunStage()
        try stage.folder.write(
            """
            public class Ask {
                public static void main(String[] words) throws Exception {
                    System.out.println(new String(new java.net.URL(words[0]).openStream().readAllBytes()));
                    System.out.println(System.getProperty("other"));
                }
            }
            """, to: "Ask.java")
        let process = try stage.run(
            environment: ["JAVA_TOOL_OPTIONS": "-Dother=kept"], ["/usr/bin/java", "Ask.java", self.url])
        // A runtime alone has no compiler.
        guard !process.errors.contains(where: { $0.contains("jdk.compiler") || $0.contains("ClassNotFound") }) else {
            return
        }
        #expect(process.exitCode == 0 && process.output == ["done", "kept"], "\(process.lines)")
        #expect(self.origin.requests.last?.head["Via"]?.hasPrefix("1.1 pintle-") == true)
    }

    @Test func `a tunnel is counted as one`() throws {
        let stage = try RunStage()
        let process = try stage.run(
            ["--report", "json=report.json"], ["curl", "-sS", "--proxytunnel", self.url])
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(process.errors.first == "pintle: 0 requests and 1 tunnel (pintle.yaml)")
        #expect(try stage.report().objects("hosts")[0]["assurance"] as? [String] == ["not verified"])
    }

    @Test func `what is denied makes the exit code 1 and is told`() throws {
        let stage = try RunStage("destinations: {deny: [\"ads.test\"]}")
        let command = [
            "sh", "-c", "curl -s -o /dev/null http://ads.test/?k=secret; curl -s -o /dev/null http://ads.test/?k=x",
        ]
        let process = try stage.run(command)
        #expect(process.exitCode == 1, "\(process.lines)")
        #expect(process.errors[0] == "pintle: 2 requests, 2 denied (pintle.yaml)")
        #expect(
            process.errors.last
                == "denied: GET http://ads.test/?k=***: ads.test:80 is denied by destinations.deny[0] \"ads.test\" (2 times)"
        )
        #expect(try stage.run(["--fail-on", "never"], command).exitCode == 0)
        #expect(try stage.run(["sh", "-c", "\(command[2]); exit 9"]).exitCode == 9)
    }

    @Test func `a report with a filter has only what it chooses, and the exit code is that of all (contract §1)`()
        throws
    {
        let stage = try RunStage("destinations: {deny: [\"ads.test\"]}")
        let command = ["sh", "-c", "curl -s -o /dev/null http://ads.test/; curl -s -o /dev/null '\(self.url)'"]
        let process = try stage.run(
            [
                "--report", "json=all.json", "--report", "json@!~deny=report.json", "--report", "har@~deny=a.har",
                "--report", "markdown@~hq 'user-agent: curl' ~slow 1h=a.md",
            ], command)
        #expect(process.exitCode == 1 && process.errors[0] == "pintle: 2 requests, 1 denied (pintle.yaml)")
        #expect(try jsonObject(stage.text("all.json")).object("summary").number("requests") == 2)
        let report = try stage.report()
        #expect(report.object("summary").number("requests") == 1 && report.text("filter") == "!~deny", "\(report)")
        #expect(report.objects("hosts").map { $0.text("host") } == [self.authority] && report.number("exit_code") == 1)
        let entries = try jsonObject(stage.text("a.har")).object("log").objects("entries")
        #expect(entries.map { $0.object("request").text("url") } == ["http://ads.test/"])
        let fields = entries[0].object("request").objects("headers").map { $0.text("name") }
        #expect(fields.contains("User-Agent"), "\(fields)")
        #expect(stage.text("a.md").contains("~slow 1h: 0 requests"), "\(stage.text("a.md"))")
        #expect(try stage.run(["--report", "json@~rout=x.json"], command).exitCode == 125)
    }

    @Test(arguments: ["reject", "report"])
    func `a violation makes the exit code 1, be it only reported`(mode: String) throws {
        let stage = try RunStage(
            "routes: [{name: api, response: {content_types: [application/json], on_violation: \(mode)}}]")
        let process = try stage.run(
            [
                "--report", "junit=a.xml", "--report", "sarif=a.sarif", "--report", "har=a.har", "--report",
                "markdown=a.md",
            ],
            ["curl", "-s", "-o", "/dev/null", self.url])
        #expect(process.exitCode == 1, "\(process.lines)")
        #expect(process.errors[0] == "pintle: 1 request, 1 violation (pintle.yaml)")
        #expect(process.errors.last?.hasPrefix("response-content-type: GET \(self.url): route api: ") == true)
        #expect(try ReportSchemas.junitProblems(stage.text("a.xml")) == [])
        if ReportSchemas.isAvailable { #expect(try ReportSchemas.sarifProblems(stage.text("a.sarif")) == []) }
        let entries = try jsonObject(stage.text("a.har")).object("log").objects("entries")
        #expect(entries.map { $0.object("request").text("url") } == [self.url])
        #expect(stage.text("a.md").contains("PINTLE0303 response-content-type"))
    }

    @Test(arguments: [
        ("/nowhere/at/all", "nothing can be written to /nowhere/at: no such file or folder"),
        ("/tmp", "it is a folder; name a file"),
    ])
    func `LOOK-105 where no report can be written the command is not run`(path: String, reason: String) throws {
        let stage = try RunStage()
        let process = try stage.run(["--report", "json=\(path)"], ["touch", "ran"])
        #expect(process.exitCode == 125, "\(process.lines)")
        #expect(process.errors == ["pintle run: --report \(path): \(reason)"])
        #expect(fileBytes("\(stage.folder.path)/ran") == nil)
    }

    @Test func `LOOK-105 where GitHub's step can have no summary the command is not run`() throws {
        let stage = try RunStage()
        let process = try stage.run(
            environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "/nowhere/summary"], ["touch", "ran"])
        #expect(process.exitCode == 125, "\(process.lines)")
        #expect(
            process.errors == [
                "pintle run: GITHUB_STEP_SUMMARY=/nowhere/summary: nothing can be written to /nowhere: no such file or folder"
            ])
        #expect(fileBytes("\(stage.folder.path)/ran") == nil)
    }

    @Test func `a report whose folder the command takes away is 125, unless the command failed`() throws {
        let stage = try RunStage()
        for (ending, code) in [("", 125), ("; exit 1", 1)] as [(String, Int32)] {
            try FileManager.default.createDirectory(
                atPath: "\(stage.folder.path)/out", withIntermediateDirectories: true)
            let process = try stage.run(["--report", "json=out/a.json"], ["sh", "-c", "rmdir out\(ending)"])
            #expect(process.exitCode == code, "\(process.lines)")
            #expect(process.errors.last == "pintle run: --report out/a.json cannot be written: no such file or folder")
        }
    }

    @Test func `LOOK-107 what had no answer is told, and fails the build where it is asked for`() throws {
        let stage = try RunStage()
        let port = try FreePort.find()
        let command = ["curl", "-s", "-o", "/dev/null", "http://127.0.0.1:\(port)/"]
        let process = try stage.run(["--report", "junit=a.xml"], command)
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(process.errors[0] == "pintle: 1 request, 1 failed (pintle.yaml)")
        #expect(process.errors.last?.hasPrefix("failed: GET http://127.0.0.1:\(port)/: ") == true)
        #expect(stage.text("a.xml").contains("<error message=\"GET http://127.0.0.1:\(port)/: "))
        #expect(try stage.run(["--fail-on", "violation,failure"], command).exitCode == 1)
    }

    @Test func `an answer that breaks off has failed`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        }
        let stage = try RunStage()
        let command = ["sh", "-c", "curl -s -o /dev/null http://127.0.0.1:\(origin.port)/; true"]
        let process = try stage.run(command)
        #expect(process.exitCode == 0 && process.errors[0] == "pintle: 1 request, 1 failed (pintle.yaml)")
        #expect(
            process.errors.last
                == "failed: GET http://127.0.0.1:\(origin.port)/: 127.0.0.1:\(origin.port) closed before the response was complete"
        )
        #expect(try stage.run(["--fail-on", "failure"], command).exitCode == 1)
    }

    @Test func `the configuration's clients and listeners count for nothing`() throws {
        let stage = try RunStage(
            "listen: [\"unix:/nowhere/at/all\"]\nclients: {allow: [\"192.0.2.0/24\"]}\nlog: {exchanges: /nowhere/at/all}"
        )
        let process = try stage.run(["curl", "-sS", self.url])
        #expect(process.exitCode == 0 && process.output == ["done"], "\(process.lines)")
    }

    // MARK: Exceptions, and runs within runs

    @Test func `nothing is exempt but what is asked for`() throws {
        let stage = try RunStage()
        let exempt = ["no_proxy": "127.0.0.1"]
        let through = try stage.run(
            environment: exempt, ["sh", "-c", "echo \"$no_proxy$NO_PROXY\"; curl -sS \(self.url)"])
        #expect(through.output == ["", "done"] && through.errors[0].hasPrefix("pintle: 1 request"), "\(through.lines)")
        let past = try stage.run(
            ["--inherit-no-proxy"], environment: exempt, ["sh", "-c", "echo $no_proxy $NO_PROXY; curl -sS \(self.url)"])
        #expect(past.output == ["127.0.0.1 127.0.0.1", "done"], "\(past.lines)")
        #expect(past.errors[0].hasPrefix("pintle: sh made no request through the proxy"))
    }

    @Test(arguments: [("", 0), ("upstream_proxy: env", 1)])
    func `a run within a run goes its own way unless it is told otherwise`(configuration: String, outer: Int) throws {
        let stage = try RunStage()
        try stage.folder.write("version: 1\n\(configuration)\n", to: "inner.yaml")
        let process = try stage.run(
            ["--report", "json=outer.json"],
            [
                PintleProcess.binary, "run", "-c", "inner.yaml", "--report", "json=inner.json", "--", "curl", "-sS",
                self.url,
            ])
        #expect(process.exitCode == 0 && process.output == ["done"], "\(process.lines)")
        #expect(try stage.report("inner.json").object("summary").number("requests") == 1)
        #expect(try stage.report("outer.json").object("summary").number("requests") == outer)
    }

    @Test(.enabled(if: geteuid() == 0, "other users are root's"))
    func `programs of other users can read the certificates that they trust, whatever the umask is`() throws {
        let stage = try RunStage()
        let process = try stage.shell(
            """
            umask 077; $pintle run --intercept other.test -- \
            setpriv --reuid=65534 --clear-groups sh -c 'head -n 1 "$SSL_CERT_FILE"'
            """)
        #expect(process.output == ["-----BEGIN CERTIFICATE-----"], "\(process.lines)")
    }

    // MARK: Build servers

    @Test func `GitHub's step has a summary, and its log annotations`() throws {
        let stage = try RunStage("destinations: {deny: [\"ads.test\"]}")
        let summary = "\(stage.folder.path)/summary"
        let process = try stage.run(
            environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary],
            ["curl", "-s", "-o", "/dev/null", "http://ads.test/"])
        #expect(process.exitCode == 1)
        #expect(process.errors.last?.hasPrefix("::error title=Pintle%3A denied::GET http://ads.test/: ") == true)
        #expect(stage.text("summary").hasPrefix("# Requests of curl\n") && stage.text("summary").contains("PINTLE0301"))
    }
}
