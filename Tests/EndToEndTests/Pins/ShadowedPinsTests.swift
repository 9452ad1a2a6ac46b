// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Pins that never hold, because an earlier policy has their hosts: every command that uses the configuration says so.
struct ShadowedPinsTests {
    private static let words =
        "trust.wide comes first and holds, so this pattern is never used; put trust.narrow first"

    private let site: PrivateSite

    init() throws { self.site = try PrivateSite() }

    private func rules(first: String = "wide") -> String {
        let policies = [
            "wide": "  wide: {hosts: [\"*.pay.example\"], roots: system}\n",
            "narrow": "  narrow: {hosts: [api.pay.example], pinning: public_key, "
                + "pins: [\"\(self.site.leaf.pin)\", \"\(self.site.backup.pin)\"]}\n",
        ]
        let second = first == "wide" ? "narrow" : "wide"
        return "trust:\n" + (policies[first] ?? "") + (policies[second] ?? "")
    }

    private func times(_ lines: [String]) -> Int { lines.filter { $0.contains(Self.words) }.count }

    @Test func `LOOK-112 check, serve, reload and run warn of shadowed pins as pins lint does`() throws {
        let stage = try RunStage(self.rules())
        let file = "\(stage.folder.path)/pintle.yaml"
        let lint = try PintleProcess.run(["pins", "lint", "-c", file])
        #expect(self.times(lint.output) == 1, "\(lint.lines)")
        let check = try PintleProcess.run(["check", "-c", file])
        #expect(check.exitCode == 0)
        #expect(self.times(check.output.filter { $0.contains("warning: trust.narrow.hosts[0]: ") }) == 1)
        let run = try stage.run(["true"])
        #expect(run.exitCode == 0)
        #expect(self.times(run.errors) == 1, "\(run.lines)")

        let pintle = try PintleProcess(self.rules(), folder: self.site.folder)
        let reload = try PintleProcess.run(["reload"], environment: ["XDG_STATE_HOME": self.site.folder.path])
        #expect(reload.exitCode == 0, "\(reload.lines)")
        #expect(try pintle.stop() == 0)
        #expect(self.times(pintle.process.errors) == 2, "\(pintle.process.errors)")
    }

    @Test func `LOOK-112 pins that come first are not warned of`() throws {
        let stage = try RunStage(self.rules(first: "narrow"))
        let check = try PintleProcess.run(["check", "-c", "\(stage.folder.path)/pintle.yaml"])
        #expect(
            check.exitCode == 0 && !check.output.contains { $0.contains("comes first and holds") }, "\(check.lines)")
        let run = try stage.run(["true"])
        #expect(!run.errors.contains { $0.contains("comes first and holds") }, "\(run.lines)")
    }
}
