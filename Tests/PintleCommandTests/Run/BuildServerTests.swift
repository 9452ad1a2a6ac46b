// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import pintle

/// The words for build servers.
struct BuildServerTests {
    @Test(
        arguments: [
            ([:], nil), (["GITHUB_ACTIONS": "true"], .github(summary: nil)), (["GITHUB_ACTIONS": "false"], nil),
            (["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "/x"], .github(summary: "/x")),
            (["GITLAB_CI": "true"], .gitlab),
        ] as [([String: String], BuildServer?)])
    func `a server is recognised by its variables`(environment: [String: String], server: BuildServer?) {
        #expect(BuildServer(environment: environment) == server)
    }

    @Test func `an annotation is one command, whatever others have written`() {
        let text = BuildServer.annotation("error", title: "a,b:c", "100% of\nlines::warning::\r\u{1B}[2J")
        #expect(text == "::error title=a%2Cb%3Ac::100%25 of%0Alines::warning::\\u{D}\\u{1B}[2J")
    }

    @Test func `GitHub has an annotation for each finding, on a line of its own`() {
        let lines = BuildServer.github(summary: nil).framed("summary\n", RunSample.report()).split(separator: "\n")
        #expect(lines[0] == "summary" && lines.count == 7)
        #expect(
            lines[1]
                == "::error title=Pintle%3A denied::GET http://ads.test:80/path?token=***: ads.test:80 is denied by "
                + "destinations.deny[0] \"ads.test\"")
        #expect(lines[2].hasPrefix("::error title=Pintle%3A pin-mismatch::GET http://moved.test:443/path?token=***: "))
        #expect(lines.last == "::warning title=Pintle%3A past the proxy::node|x connected to 192.0.2.9:443")
    }

    @Test func `GitLab has a section`() {
        let text = BuildServer.gitlab.framed("summary\n", RunSample.report())
        #expect(
            text == "\u{1B}[0Ksection_start:1790000000:pintle_run\r\u{1B}[0KPintle\nsummary\n"
                + "\u{1B}[0Ksection_end:1790000001:pintle_run\r\u{1B}[0K\n")
    }

    @Test func `the summary of a step is added to`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("before\n", to: "summary")
        let report = RunSample.report()
        #expect(BuildServer.github(summary: file).tell(report) == nil)
        #expect(
            String(decoding: fileBytes(file) ?? [], as: UTF8.self)
                == "before\n\(RunReportFormat.markdown.write(report))\n")
        #expect(
            BuildServer.github(summary: "/nowhere/x").tell(report)
                == "GITHUB_STEP_SUMMARY=/nowhere/x cannot be written: no such file or folder")
        #expect(BuildServer.gitlab.tell(report) == nil)
    }

    @Test func `LOOK-105 the summary of a step is looked at before the run`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("before\n", to: "summary")
        for place in [file, "\(folder.path)/new"] { #expect(BuildServer.github(summary: place).obstacle == nil) }
        #expect(
            BuildServer.github(summary: "/nowhere/x").obstacle
                == "GITHUB_STEP_SUMMARY=/nowhere/x: nothing can be written to /nowhere: no such file or folder")
        #expect(
            BuildServer.github(summary: folder.path).obstacle
                == "GITHUB_STEP_SUMMARY=\(folder.path): it is a folder; name a file")
        #expect(BuildServer.github(summary: nil).obstacle == nil && BuildServer.gitlab.obstacle == nil)
        #expect(fileBytes("\(folder.path)/new") == nil)
    }
}
