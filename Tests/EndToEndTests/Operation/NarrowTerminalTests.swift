// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Output for a terminal with short lines.
struct NarrowTerminalTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write(
            """
            version: 1
            destinations: {deny: ["a-long-name.of-a-server.example"]}
            trust: {partner: {hosts: [a.example], enforcement: report, pinning: public_key, pins: ["sha256/\(Self.pin)"]}}
            """, to: "pintle.yaml")
    }

    private static let pin = String(repeating: "A", count: 43) + "="
    private static let width = 60

    @Test(arguments: [
        ["run", "--help"], ["explain", "GET", "http://a-long-name.of-a-server.example/"], ["check"],
        ["serve", "--nonsense"],
        ["run", "--", "/usr/bin/curl", "-s", "-o", "/dev/null", "http://a-long-name.of-a-server.example/"],
    ])
    func `LOOK-109 lines break between words, and elsewhere they are whole`(arguments: [String]) throws {
        let environment = RunStage.environment.merging(["TERM": "xterm", "NO_COLOR": "1"]) { $1 }
        let terminal = try PseudoTerminal(
            arguments, environment: environment, columns: Self.width, folder: self.folder.path)
        try terminal.waitForExit()
        let plain = try ChildProcess(
            PintleProcess.binary, arguments, environment: environment, folder: self.folder.path)
        try plain.waitForExit()
        let told = terminal.text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        #expect(told.allSatisfy { $0.count <= Self.width || $0.split(separator: " ").count == 1 }, "\(told)")
        #expect(plain.lines.contains { $0.text.count > Self.width }, "\(plain.lines)")
        // Standard output and standard error come in one there, and each in its order here.
        let words = { (text: String) in text.split { $0.isWhitespace }.map(String.init).sorted() }
        #expect(words(terminal.text) == words(plain.lines.map(\.text).joined(separator: "\n")))
    }

    @Test func `LOOK-109 a file is written as ever, though standard error is a terminal`() throws {
        let file = "\(self.folder.path)/out"
        let terminal = try PseudoTerminal(
            ["explain", "GET", "http://a-long-name.of-a-server.example/"],
            environment: RunStage.environment, output: file, columns: 30, folder: self.folder.path)
        try terminal.waitForExit()
        let text = String(decoding: fileBytes(file) ?? [], as: UTF8.self)
        #expect(
            text.contains(
                "destination  a-long-name.of-a-server.example:80 is denied by destinations.deny[0] "
                    + "\"a-long-name.of-a-server.example\"\n"), "\(text)")
    }
}
