// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Log lines at a terminal.
struct TerminalLogTests {
    private let folder: TemporaryFolder
    private let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin { connection in
            while true {
                let line = try connection.readRequest().head.startLine
                try connection.send(response("12345", status: line.contains("/bad") ? "500 No" : "200 OK"))
            }
        }
        try self.folder.write("version: 1\nadmin: off\n", to: "pintle.yaml")
    }

    private var environment: [String: String] { ["XDG_STATE_HOME": self.folder.path, "TERM": "xterm"] }

    /// A proxy at a terminal, after two requests. It has ended.
    private func serve(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws -> String {
        let port = "\(self.folder.path)/port"
        let terminal = try PseudoTerminal(
            ["serve", "-c", "pintle.yaml", "--listen", "127.0.0.1:0", "--port-file", port] + arguments,
            environment: self.environment.merging(environment) { $1 }, folder: self.folder.path)
        try terminal.waitForText("ready")
        let number = try #require(
            Int(String(decoding: fileBytes(port) ?? [], as: UTF8.self).split(separator: "\n").first ?? ""))
        for path in ["good?key=secret", "bad"] {
            _ = try Curl.run(proxy: number, "http://127.0.0.1:\(self.origin.port)/\(path)")
        }
        try terminal.waitForText("/bad")
        terminal.signal(15)
        #expect(try terminal.waitForExit() == 0)
        return terminal.text
    }

    @Test func `people get short lines in colours`() throws {
        let text = try self.serve()
        let base = "http://127.0.0.1:\(self.origin.port)"
        #expect(text.contains("\u{1B}[32m200\u{1B}[0m  GET    "), "\(text)")
        #expect(text.contains("\u{1B}[31m500\u{1B}[0m  GET    "), "\(text)")
        #expect(text.contains("5 B  \(base)/good?key=***  \u{1B}[2m"), "\(text)")
        #expect(text.contains("  notice   ready ") && !text.contains("time="), "\(text)")
    }

    @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
    func `lines have no colours if they are not wanted, or not known`(environment: [String: String]) throws {
        let text = try self.serve([], environment)
        #expect(!text.contains("\u{1B}"), "\(text)")
        let line = /\d\d:\d\d:\d\d  200  GET    \s*\d+ ms        5 B  http:\S+\/good\?key=\*\*\*  [0-9a-f]+-[0-9a-f]+/
        #expect(text.split(whereSeparator: \.isNewline).contains { $0.wholeMatch(of: line) != nil }, "\(text)")
    }

    @Test func `JSON is JSON at a terminal, too`() throws {
        let text = try self.serve(["--log-format", "json"])
        #expect(text.contains("{\"time\":\"") && !text.contains("\u{1B}"), "\(text)")
    }

    @Test func `a file has the lines that it always had`() throws {
        let file = "\(self.folder.path)/exchanges.log"
        try self.folder.write("version: 1\nadmin: off\nlog: {exchanges: exchanges.log}\n", to: "pintle.yaml")
        let port = "\(self.folder.path)/port"
        let terminal = try PseudoTerminal(
            ["serve", "-c", "pintle.yaml", "--listen", "127.0.0.1:0", "--port-file", port],
            environment: self.environment, folder: self.folder.path)
        try terminal.waitForText("ready")
        let number = try #require(
            Int(String(decoding: fileBytes(port) ?? [], as: UTF8.self).split(separator: "\n").first ?? ""))
        _ = try Curl.run(proxy: number, "http://127.0.0.1:\(self.origin.port)/")
        terminal.signal(15)
        #expect(try terminal.waitForExit() == 0)
        let lines = String(decoding: fileBytes(file) ?? [], as: UTF8.self)
        #expect(lines.hasPrefix("time=2") && lines.contains(" source=origin"), "\(lines)")
    }

    @Test func `tail has short lines at a terminal, and all fields if they are asked for`() throws {
        let pintle = try PintleProcess("", folder: self.folder)
        func tail(_ arguments: [String]) throws -> String {
            let terminal = try PseudoTerminal(["tail"] + arguments, environment: self.environment)
            try Patience.wait(for: "a line of tail; there is \(terminal.text)") {
                _ = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(self.origin.port)/good")
                return terminal.text.contains("/good")
            }
            terminal.signal(15)
            try terminal.waitForExit()
            return terminal.text
        }
        #expect(try tail([]).contains("\u{1B}[32m200\u{1B}[0m  GET    "))
        let whole = try tail(["--format", "text"])
        #expect(whole.contains("time=") && !whole.contains("\u{1B}"), "\(whole)")
    }
}
