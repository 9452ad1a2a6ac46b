// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `pintle convert`, whose results `check` and `explain` read.
struct ConvertCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write(
            """
            version: v1
            services: [{name: billing, action: enforce, allowed_domains: [api.example.com]}]
            default: {action: open}
            global_deny_list: ["*.evil.example"]
            """, to: "acl.yaml")
        try self.folder.write(
            """
            acl work dstdomain .example.com
            acl games url_regex games
            http_access deny games
            http_access allow localhost work
            http_access deny all
            http_port 127.0.0.1:3128
            """, to: "squid.conf")
    }

    private func convert(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(["convert"] + arguments, folder: self.folder.path)
    }

    private func explain(_ file: String, _ target: String) throws -> [String] {
        try PintleProcess.run(["explain", "-c", file, "CONNECT", target], folder: self.folder.path).output
    }

    @Test func `a file is written that check reads, and explain decides by`() throws {
        let made = try self.convert("--from", "smokescreen", "--service", "billing", "--out", "made.yaml", "acl.yaml")
        #expect(made.exitCode == 0 && made.output.isEmpty, "\(made.errors)")
        let check = try PintleProcess.run(["check", "made.yaml"], folder: self.folder.path)
        #expect(check.exitCode == 0 && check.output.isEmpty, "\(check.output)")
        #expect(
            try self.explain("made.yaml", "api.example.com:443").contains(
                "destination  api.example.com:443 is allowed by destinations.allow[0] \"api.example.com\""))
        #expect(
            try self.explain("made.yaml", "other.example:443").contains(
                "destination  other.example:443 is denied by destinations.default"))
    }

    @Test func `a denial that is left out is exit code 1, and its line is told`() throws {
        let made = try self.convert("--from", "squid", "squid.conf")
        #expect(made.exitCode == 1)
        #expect(made.output.contains("    - \"*.example.com\""), "\(made.output)")
        #expect(
            made.errors == [
                "pintle convert: squid.conf:3: weaker: http_access deny is left out: games (url_regex: Pintle has no regular "
                    + "expressions)"
            ])
    }

    @Test func `an existing file is not replaced, and a wrong command line is usage`() throws {
        let twice = try self.convert("--from", "squid", "--out", "acl.yaml", "squid.conf")
        #expect(twice.exitCode == 4, "\(twice.errors)")
        #expect(twice.errors.first?.hasPrefix("pintle convert: --out: acl.yaml cannot be written: ") == true)
        #expect(try self.convert("--from", "squid", "--service", "x", "squid.conf").exitCode == 2)
        #expect(try self.convert("--from", "smokescreen", "--service", "x", "acl.yaml").exitCode == 2)
        let missing = try self.convert("--from", "squid", "none.conf")
        #expect(
            missing.exitCode == 4 && missing.errors == ["pintle convert: there is no file none.conf"],
            "\(missing.errors)")
        #expect(try self.convert("--from", "squid", "acl.yaml").exitCode == 4)
    }
}
