// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Credentials that the command cannot read (contract §7).
struct RunCredentialTests {
    private static let value = "ghp_S3cr3tValueOfTheToken+/=x1234"
    private static let machine = "host.pintle.internal"
    private static let python = "/usr/bin/python3"
    private static let scripts = #filePath.replacing(
        "EndToEndTests/Run/RunCredentialTests.swift", with: "Programs/Credentials")

    /// An origin of Tests/Programs/Credentials that repeats what it gets.
    private struct Origin {
        let process: ChildProcess
        let port: String
        private let log: String

        /// - Parameter isSecure: true for TLS with the certificate of the folder.
        init(_ name: String, in folder: TemporaryFolder, isSecure: Bool = true) throws {
            let identity = isSecure ? ["site.pem", "site.key"] : ["-", "-"]
            self.log = "\(folder.path)/\(name).log"
            self.process = try ChildProcess(
                RunCredentialTests.python, ["\(RunCredentialTests.scripts)/origin.py"] + identity + [self.log],
                folder: folder.path)
            self.port = try self.process.waitForLine("its port") { UInt16($0) != nil }
        }

        /// Everything that it has got.
        var heard: String {
            let lines = String(decoding: fileBytes(self.log) ?? [], as: UTF8.self).split(separator: "\n")
            return lines.map { String(decoding: Data(base64Encoded: String($0)) ?? Data(), as: UTF8.self) }
                .joined(separator: "\n")
        }
    }

    /// A folder with a certificate for this machine, and the origins.
    private struct Stage {
        let run: RunStage
        let api: Origin
        let other: Origin
        let clear: Origin

        init() throws {
            self.run = try RunStage()
            let folder = self.run.folder
            _ = try folder.write(
                try TestPKI().selfSigned(dns: [RunCredentialTests.machine], ip: ["127.0.0.1"]), as: "site")
            self.api = try Origin("api", in: folder)
            self.other = try Origin("other", in: folder)
            self.clear = try Origin("clear", in: folder, isSecure: false)
            try folder.write(
                """
                version: 1
                interception: {hosts: ["*"]}
                trust: {api: {hosts: ["\(RunCredentialTests.machine)", "127.0.0.1"], roots: [site.pem]}}
                credentials:
                  api:
                    value: "env:TOKEN"
                    trust: api
                    for:
                      - hosts: ["\(RunCredentialTests.machine):\(self.api.port)"]
                        methods: [GET, POST, HEAD, TRACE]
                        paths: ["/repos/**"]
                """, to: "pintle.yaml")
        }

        func run(_ options: [String] = [], _ command: [String]) throws -> ChildProcess {
            try self.run.run(
                options + ["--report", "json=report.json"],
                environment: ["TOKEN": RunCredentialTests.value, "ALSO": "Bearer \(RunCredentialTests.value)!"], command
            )
        }
    }

    /// The forms of the value that a leak could have.
    private static var forms: [String] {
        let bytes = Array(Self.value.utf8)
        let encoded = (0..<3).map { offset in
            let whole = Data(Array(repeating: 0x78, count: offset) + bytes).base64EncodedString()
            return String(whole.dropFirst((offset * 8 + 5) / 6).prefix(bytes.count * 8 / 6 - 1))
        }
        return [
            Self.value, Self.value.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D"),
            Self.value.replacing("/", with: "\\/"), bytes.map { String($0, radix: 16) }.joined(),
        ] + encoded
    }

    private static func leaks(in text: String) -> [String] {
        let text = text.lowercased()
        return Self.forms.filter { text.contains($0.lowercased()) }
    }

    @Test func `a program uses a token that it cannot read`() throws {
        let stage = try Stage()
        let url = "https://\(Self.machine):\(stage.api.port)/repos/plain"
        let process = try stage.run(
            [], ["sh", "-c", "echo \"$TOKEN\"; echo \"$ALSO\"; curl -sS -H \"Authorization: $ALSO\" \(url)"])
        #expect(process.exitCode == 0, "\(process.lines)")
        let placeholder = try #require(process.output.first)
        #expect(placeholder.hasPrefix("pntl_") && placeholder.utf8.count == Self.value.utf8.count)
        #expect(process.output.dropFirst().first == "Bearer \(placeholder)!")
        // curl speaks HTTP/2 in the tunnel.
        #expect(stage.api.heard.contains("authorization: Bearer \(Self.value)!"))
        #expect(process.output.contains { $0.hasPrefix("authorization: Bearer ***") }, "\(process.output)")
        #expect(Self.leaks(in: process.lines.map(\.text).joined(separator: "\n")).isEmpty)
        #expect(process.errors.contains("credential api: 1 request to \(Self.machine):\(stage.api.port)"))
        #expect(process.errors.contains { $0.contains("without --isolate the command can read") })
        let went = try #require((try stage.run.report()["credentials"] as? [JSONObject])?.first)
        #expect(went["name"] as? String == "api" && went.number("requests") == 1)
    }

    @Test func `no attempt gets at the value, or has it sent elsewhere`() throws {
        let stage = try Stage()
        let process = try stage.run(
            ["--report", "har=report.har"],
            [Self.python, "\(Self.scripts)/attack.py", stage.api.port, stage.other.port, stage.clear.port])
        // Some are findings.
        #expect(process.exitCode == 1, "\(process.lines.suffix(20))")
        let output = process.output.joined(separator: "\n")
        #expect(output.split(separator: "\n== ").count > 70)
        #expect(Self.leaks(in: output).isEmpty)
        #expect(Self.leaks(in: process.errors.joined(separator: "\n")).isEmpty)
        for report in ["report.json", "report.har"] { #expect(Self.leaks(in: stage.run.text(report)).isEmpty) }
        #expect(Self.leaks(in: stage.other.heard).isEmpty && !stage.other.heard.contains("pntl_"))
        #expect(stage.clear.heard.isEmpty)
        #expect(stage.api.heard.contains(Self.value))
        #expect(!stage.api.heard.contains("/users/") && !stage.api.heard.contains("DELETE"))
        let names = (try stage.run.report()["findings"] as? [JSONObject] ?? []).compactMap { $0["name"] as? String }
        #expect(names.filter { $0 == "credential-misuse" }.count >= 15)
    }

    @Test func `messages of a WebSocket are masked, and other protocols are refused`() throws {
        let stage = try Stage()
        let process = try stage.run(
            [],
            [
                Self.python, "\(Self.scripts)/attack.py", stage.api.port, stage.other.port, stage.clear.port,
                "web-socket",
            ])
        let output = process.output.joined(separator: "\n")
        #expect(stage.api.heard.contains("X-Key: \(Self.value)"), "\(process.lines)")
        #expect(!stage.api.heard.lowercased().contains("permessage-deflate"))
        #expect(Self.leaks(in: output).isEmpty)
        #expect(output.contains("kinds: [0, 1, 2, 8, 9]"), "\(output)")
        let shown = try #require(output.components(separatedBy: "\nmessages: ").last)
        #expect(shown.hasPrefix("GET /repos/socket"))
        let stars = String(repeating: "*", count: Self.value.utf8.count)
        #expect(shown.components(separatedBy: "X-Key: \(stars)").count == 8)
        #expect(shown.components(separatedBy: "ping \(stars)").count > 100 && shown.contains("bye \(stars)"))
        let other = try stage.run(
            [],
            [
                Self.python, "\(Self.scripts)/attack.py", stage.api.port, stage.other.port, stage.clear.port,
                "other-protocol",
            ])
        #expect(other.output.contains { $0.hasPrefix("HTTP/1.1 502") }, "\(other.lines)")
        #expect(other.output.joined().contains("a protocol that cannot be searched for it"))
    }

    @Test func `a key that is not pinned gets no credential`() throws {
        let stage = try Stage()
        let file = stage.run.text("pintle.yaml").replacing(
            "roots: [site.pem]",
            with: "roots: [site.pem], pinning: public_key, pins: [\"sha256/\(String(repeating: "A", count: 43))=\"]")
        try stage.run.folder.write(file, to: "pintle.yaml")
        let url = "https://\(Self.machine):\(stage.api.port)/repos/plain"
        let process = try stage.run([], ["sh", "-c", "curl -sS -H \"X-Key: $TOKEN\" \(url)"])
        #expect(process.exitCode == 1, "\(process.lines)")
        #expect(stage.api.heard.isEmpty)
        #expect((try stage.run.report()["credentials"] as? [JSONObject])?.isEmpty == true)
    }

    @Test func `a recording has the placeholder`() throws {
        let stage = try Stage()
        let url = "https://\(Self.machine):\(stage.api.port)/repos/plain"
        let process = try stage.run(
            ["--record", "tape"], ["sh", "-c", "curl -sS -H \"X-Key: $TOKEN\" -d \"k=$TOKEN\" \(url)"])
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(stage.api.heard.contains("x-key: \(Self.value)"))
        let files = try FileManager.default.subpathsOfDirectory(atPath: "\(stage.run.folder.path)/tape")
        #expect(!files.isEmpty)
        for file in files { #expect(Self.leaks(in: stage.run.text("tape/\(file)")).isEmpty, "\(file)") }
    }

    @Test(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
    func `an isolated command finds the placeholder in files, too`() throws {
        let stage = try Stage()
        let folder = stage.run.folder
        try folder.write(Self.value + "\n", to: "secret")
        try folder.write("machine \(Self.machine) login user password \(Self.value)\n", to: "netrc")
        let file = stage.run.text("pintle.yaml").replacing(
            "value: \"env:TOKEN\"", with: "value: \"file:secret\"\n    files: [netrc]")
        try folder.write(file, to: "pintle.yaml")
        let url = "https://\(Self.machine):\(stage.api.port)/repos/plain"
        let command = ["sh", "-c", "cat secret netrc; mv secret other; cat other; curl -sS --netrc-file netrc \(url)"]
        let process = try stage.run(["--isolate"], command)
        #expect(process.exitCode == 0, "\(process.lines)")
        let placeholder = try #require(process.output.first)
        #expect(placeholder.hasPrefix("pntl_"))
        #expect(process.output.dropFirst().first?.hasSuffix(" password \(placeholder)") == true)
        #expect(Self.leaks(in: process.lines.map(\.text).joined(separator: "\n")).isEmpty)
        let login = Data("user:\(Self.value)".utf8).base64EncodedString()
        #expect(stage.api.heard.contains("authorization: Basic \(login)"), "\(stage.api.heard)")
        #expect(stage.run.text("secret") == Self.value + "\n")
        // Without isolation the command would read the file itself.
        let open = try stage.run([], command)
        #expect(open.exitCode == 125 && open.errors.contains { $0.contains("only with --isolate") }, "\(open.lines)")
    }
}
