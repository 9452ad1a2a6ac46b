// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Configurations of several files.
struct IncludeTests {
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
        try #require(mkdir("\(self.folder.path)/conf.d", 0o700) == 0)
    }

    private func write(_ rule: String, to name: String) throws {
        let host = name.split(separator: ".")[0]
        try self.folder.write(
            "routes: [{name: \(host), match: {paths: [\"/\(host)\"]}, request: {headers: {set: {X-Rule: \(rule)}}}}]\n",
            to: "conf.d/\(name)")
    }

    private func rule(_ pintle: PintleProcess, _ path: String) throws -> String? {
        #expect(try pintle.ask(get(self.origin.port, path)).text == "done")
        return self.origin.requests.last?["X-Rule"]
    }

    @Test func `files that are included, changed and added are served by`() throws {
        try self.write("one", to: "a.yaml")
        let pintle = try PintleProcess("include: \"conf.d/*.yaml\"", arguments: ["--watch"], folder: self.folder)
        #expect(try self.rule(pintle, "/a") == "one")
        try self.write("two", to: "a.yaml")
        let reloaded = "reloaded \(self.folder.path)/pintle.yaml"
        try pintle.waitForMessages(reloaded)
        #expect(try self.rule(pintle, "/a") == "two")
        #expect(try self.rule(pintle, "/b") == nil)
        // The file is written elsewhere and moved, so that no reader sees half of it.
        try self.write("three", to: "b.new")
        rename("\(self.folder.path)/conf.d/b.new", "\(self.folder.path)/conf.d/b.yaml")
        try pintle.waitForMessages(reloaded, 2)
        try Patience.wait(for: "the new file's rule") { try self.rule(pintle, "/b") != nil }
        #expect(try self.rule(pintle, "/b") == "three")
        #expect(try self.rule(pintle, "/a") == "two")
    }

    @Test func `check lists them, in the order of their names`() throws {
        try self.write("one", to: "b.yaml")
        try self.write("two", to: "a.yaml")
        let file = try self.folder.write("version: 1\ninclude: [\"conf.d/*.yaml\"]\n", to: "p.yaml")
        let process = try PintleProcess.run(["check", "-c", file])
        #expect(process.exitCode == 0, "\(process.lines)")
        let path = "\(self.folder.path)/conf.d"
        #expect(
            process.errors.filter { $0.hasPrefix("included") } == [
                "included: \(path)/a.yaml", "included: \(path)/b.yaml",
            ])
        #expect(
            process.output.first?.hasPrefix("\(path)/a.yaml:1:10: note: routes[0]: \"a\"") == true, "\(process.lines)")
        try self.folder.write("routes: [{nam: x}]\n", to: "conf.d/c.yaml")
        let wrong = try PintleProcess.run(["check", "-c", file])
        #expect(wrong.exitCode == 3, "\(wrong.lines)")
        #expect(wrong.errors.contains { $0.hasPrefix("\(path)/c.yaml:1:11: routes[0]: unknown key \"nam\"") })
    }
}
