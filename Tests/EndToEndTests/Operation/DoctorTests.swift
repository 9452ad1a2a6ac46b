// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `pintle doctor`, with the programs that are there, and with some that pass for them.
struct DoctorTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private var environment: [String: String] {
        [
            "PATH": "\(self.folder.path)/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
            "HOME": self.folder.path,
            "TMPDIR": self.folder.path,
        ]
    }

    private func doctor(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(["doctor"] + arguments, environment: self.environment, folder: self.folder.path)
    }

    /// Puts a shell script in a program's place. Another process writes it: a child that a concurrent test starts meanwhile
    /// would keep it open for writing, and then it could not be executed.
    private func replace(_ program: String, with script: String) throws {
        let bin = self.folder.path + "/bin"
        _ = try ShellFilter.run(
            "mkdir -p '\(bin)' && cat >'\(bin)/\(program)' && chmod +x '\(bin)/\(program)'",
            Array("#!/bin/sh\n\(script)\n".utf8))
    }

    @Test func `programs that read the environment work both ways, and nothing is left`() throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: self.folder.path)
        let process = try self.doctor("--format", "json", "curl", "wget", "urllib")
        #expect(process.exitCode == 0, "\(process.lines)")
        let report = try jsonObject(process.output.joined(separator: "\n"))
        let clients = try #require(report["clients"] as? [PintleProcess.Object])
        #expect(clients.count == 3)
        for client in clients {
            for scheme in ["http", "https"] { #expect(client.object(scheme)["works"] as? Bool == true, "\(client)") }
            #expect(client["advice"] as? [String] == [])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path) == before)
    }

    @Test func `a program that goes past the proxy is found, and one that does not trust it`() throws {
        try self.replace("curl", with: #"exec /usr/bin/curl --noproxy '*' "$@""#)
        try self.replace("wget", with: #"unset WGETRC; exec /usr/bin/wget "$@""#)
        let process = try self.doctor("curl", "wget", "urllib")
        #expect(process.exitCode == 1, "\(process.lines)")
        let lines = process.output
        #expect(lines.contains { $0.hasPrefix("curl ") && $0.contains("http past the proxy") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("wget ") && $0.contains("http works") && $0.contains("https no trust") })
        #expect(lines.contains { $0.hasPrefix("urllib ") && $0.contains("https works") })
        #expect(
            lines.contains { $0.contains("~/.curlrc has `noproxy`") }
                && lines.contains { $0.contains("ca_certificate") })
        #expect(lines.contains("1 of 3 programs work both ways"))
    }

    @Test func `what is not installed is said, and is no failure`() throws {
        try self.replace("cargo", with: "exit 1")
        let process = try self.doctor("cargo")
        #expect(process.exitCode == 0 && process.output.last == "not installed: cargo", "\(process.lines)")
    }

    @Test func `an unknown program is refused, and an invalid configuration`() throws {
        let unknown = try self.doctor("netcat")
        #expect(
            unknown.exitCode == 2 && unknown.errors.contains { $0.contains("netcat is not known") }, "\(unknown.lines)")
        try self.folder.write("version: 2\n", to: "bad.yaml")
        #expect(try self.doctor("-c", "bad.yaml", "curl").exitCode == 3)
        try self.folder.write(
            "version: 1\ninterception: {hosts: ['*'], ca: {certificate: nowhere.pem}}\n", to: "none.yaml")
        let missing = try self.doctor("-c", "none.yaml", "curl")
        #expect(missing.exitCode == 4 && missing.errors.contains { $0.contains("nowhere.pem") }, "\(missing.lines)")
    }

    @Test func `a signal ends the doctor with all that it has started`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.waitForEnd()
        }
        try self.replace(
            "curl",
            with: """
                [ "$1" = --version ] && exec /usr/bin/curl --version
                exec /usr/bin/curl --silent --noproxy '*' http://127.0.0.1:\(origin.port)/
                """)
        let process = try ChildProcess(
            PintleProcess.binary, ["doctor", "curl"], environment: self.environment, folder: self.folder.path)
        try origin.waitForRequests(1)
        process.signal(SIGTERM)
        #expect(try process.waitForExit() == 128 + SIGTERM, "it died of the signal: \(process.lines)")
        try origin.waitUntilQuiet()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: self.folder.path).filter { $0.hasPrefix("pintle-") }
                == [])
    }
}
