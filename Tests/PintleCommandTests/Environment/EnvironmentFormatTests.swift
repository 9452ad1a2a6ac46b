// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

@testable import pintle

/// Environments written down, and read by those that they are written for.
struct EnvironmentFormatTests {
    /// Texts that break out of quotation marks, end lines, are expanded, or hide a mark by combining with it.
    static let hostile = [
        "", "plain", "two words", "it's", "\"quoted\"", "$HOME `id` $(id) ${x}", "back\\slash\\", "a\nb\n", "a\rb",
        "'\u{301}'x",
        "; rm -rf /", "\u{2018}id\u{2019}", "# no comment", "=", "~", "*?[a]", "PINTLE_END_0\nPINTLE_END_1", "ümläut",
        "%0A%",
        "\\'", "\\n", "-n",
    ]

    private static var variables: [ProxyEnvironment.Variable] {
        Self.hostile.enumerated().map { ProxyEnvironment.Variable("V\($0)", $1) }
    }

    /// The variables as a command sees them that has read a file.
    private func seen(by command: [String], _ text: String, files: [String: String] = [:]) throws -> [String?] {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "environment")
        for (name, content) in files { try folder.write(content, to: name) }
        let child = try ChildProcess(command[0], Array(command.dropFirst()), folder: folder.path)
        #expect(try child.waitForExit() == 0, "\(child.lines)")
        let output = child.output.joined(separator: "\n")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: String])
        return Self.hostile.indices.map { object["V\($0)"] }
    }

    private static let dump =
        "import json, os, sys; json.dump({k: v for k, v in os.environ.items() if k[:1] == 'V'}, sys.stdout)"

    @Test(arguments: ["/bin/sh", "/bin/bash"])
    func `a shell takes every value as it is, and lets it go again`(shell: String) throws {
        let text = EnvironmentFormat.sh.setting(Self.variables)
        let values = try self.seen(
            by: [shell, "-c", ". ./environment; exec /usr/bin/python3 dump.py"], text, files: ["dump.py": Self.dump])
        #expect(values == Self.hostile)
        let undone = text + EnvironmentFormat.sh.unsetting(Self.variables.map(\.name))
        let none = try self.seen(
            by: [shell, "-c", ". ./environment; exec /usr/bin/python3 dump.py"], undone, files: ["dump.py": Self.dump])
        #expect(none.allSatisfy { $0 == nil })
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish"), "there is no fish here"))
    func `fish takes every value as it is`() throws {
        let values = try self.seen(
            by: ["/usr/bin/fish", "--no-config", "-c", "source ./environment; exec /usr/bin/python3 dump.py"],
            EnvironmentFormat.fish.setting(Self.variables), files: ["dump.py": Self.dump])
        #expect(values == Self.hostile)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/pwsh"), "there is no PowerShell here"))
    func `PowerShell takes every value as it is`() throws {
        let values = try self.seen(
            by: [
                "/usr/bin/pwsh", "-NoProfile", "-Command",
                "Invoke-Expression (Get-Content -Raw environment); python3 dump.py",
            ],
            EnvironmentFormat.powershell.setting(Self.variables), files: ["dump.py": Self.dump])
        // PowerShell removes a variable with an empty value.
        #expect(values.map { $0 ?? "" } == Self.hostile)
    }

    @Test func `JSON has every value, and null for what goes`() throws {
        let text = EnvironmentFormat.json.setting(Self.variables)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String])
        #expect(Self.hostile.indices.map { object["V\($0)"] } == Self.hostile)
        #expect(EnvironmentFormat.json.unsetting(["A", "B"]) == "{\n  \"A\": null,\n  \"B\": null\n}\n")
    }

    @Test func `GitHub reads every value as it is`() throws {
        // Parses the file as the runner does: a line with = before any <<, or a delimiter with lines up to it.
        let reader = """
            import json, sys
            lines = open("environment", newline="", encoding="utf-8").read().split("\\n")
            seen, at = {}, 0
            while at < len(lines):
                line = lines[at]; at += 1
                if line == "": continue
                equals, heredoc = line.find("="), line.find("<<")
                if equals >= 0 and (heredoc < 0 or equals < heredoc):
                    seen[line[:equals]] = line[equals + 1:]
                else:
                    name, end = line[:heredoc], line[heredoc + 2:]
                    values = []
                    while lines[at] != end: values.append(lines[at]); at += 1
                    at += 1
                    seen[name] = "\\n".join(values)
            json.dump(seen, sys.stdout)
            """
        let values = try self.seen(
            by: ["/usr/bin/python3", "reader.py"], EnvironmentFormat.github.setting(Self.variables),
            files: ["reader.py": reader])
        #expect(values == Self.hostile)
    }

    @Test(
        arguments: [
            ("", "A="), ("http://[::1]:1", "A=http://[::1]:1"), ("a b", "A='a b'"), ("$x", "A='$x'"),
            ("it's", "A=\"it's\""), ("a\n\"$b`\\", "A=\"a\\n\\\"\\$b\\`\\\\\""),
        ])
    func `a dotenv file has quotation marks where they are needed`(value: String, line: String) {
        #expect(EnvironmentFormat.dotenv.setting([ProxyEnvironment.Variable("A", value)]) == "\(line)\n")
    }

    @Test(
        arguments: [
            (.sh, "export A='it'\\''s'\n", "unset A\n"), (.fish, "set -gx A 'it\\'s'\n", "set -e A\n"),
            (.powershell, "${Env:A} = 'it''s'\n", "Remove-Item -ErrorAction Ignore Env:A\n"),
            (.github, "A=it's\n", "A=\n"), (.dotenv, "A=\"it's\"\n", "A=\n"),
        ] as [(EnvironmentFormat, String, String)])
    func `each format has its words`(format: EnvironmentFormat, set: String, unset: String) {
        #expect(format.setting([ProxyEnvironment.Variable("A", "it's")]) == set)
        #expect(format.unsetting(["A"]) == unset)
    }

    @Test func `the login shell chooses the format`() {
        #expect(EnvironmentFormat.standard(shell: "/usr/bin/fish") == .fish)
        #expect(EnvironmentFormat.standard(shell: "/bin/zsh") == .sh && EnvironmentFormat.standard(shell: nil) == .sh)
    }
}
