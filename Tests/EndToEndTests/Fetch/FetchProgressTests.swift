// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Progress bars: on a terminal, and nowhere else.
struct FetchProgressTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func `a bar shows how far a download is`() throws {
        let origin = try InterruptedOrigin()
        let terminal = try PseudoTerminal(["fetch", origin.url, "-o", "\(self.folder.path)/out"])
        try terminal.waitForText("62%  10.0 MiB")
        #expect(terminal.text.contains("data.bin  [####"))
        origin.release.change { $0 = true }
        #expect(try terminal.waitForExit() == 4)
        #expect(terminal.text.contains("\u{1B}[31mdata.bin  failed after 10.0 MiB\u{1B}[0m"), "\(terminal.text)")
    }

    @Test(arguments: [
        (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": ""], true),
        (["TERM": "xterm", "NO_COLOR": "1"], false),
    ])
    func `NO_COLOR takes the colour and leaves the bars`(environment: [String: String], isColoured: Bool) throws {
        let origin = try RawOrigin(answering: response("fine"))
        let terminal = try PseudoTerminal(
            ["fetch", "http://127.0.0.1:\(origin.port)/x", "-o", "\(self.folder.path)/out"], environment: environment)
        #expect(try terminal.waitForExit() == 0)
        #expect(terminal.text.contains("x  4 B in 0:00") && terminal.text.contains("\u{1B}[32m") == isColoured)
    }

    @Test func `a terminal that cannot go back has no bars`() throws {
        let origin = try RawOrigin(answering: response("fine"))
        let terminal = try PseudoTerminal(
            ["fetch", "http://127.0.0.1:\(origin.port)/x", "-o", "\(self.folder.path)/out"],
            environment: ["TERM": "dumb"])
        #expect(try terminal.waitForExit() == 0 && terminal.text.isEmpty, "\(terminal.text)")
    }

    @Test func `there is no bar between the lines of a body, and one when the body goes elsewhere`() throws {
        let origin = try RawOrigin(answering: response("fine\n"))
        let arguments = ["fetch", "http://127.0.0.1:\(origin.port)/x"]
        let body = try PseudoTerminal(arguments)
        #expect(try body.waitForExit() == 0)
        #expect(body.text.filter { !$0.isNewline } == "fine", "\(body.text)")
        let file = "\(self.folder.path)/out"
        let bar = try PseudoTerminal(arguments, output: file)
        #expect(try bar.waitForExit() == 0)
        #expect(bar.text.contains("x  5 B in 0:00") && contents(file) == Array("fine\n".utf8), "\(bar.text)")
    }

    @Test func `each of several transfers has a bar`() throws {
        let origin = try InterruptedOrigin()
        let other = try InterruptedOrigin()
        let terminal = try PseudoTerminal(
            [
                "fetch", "--parallel", "2", "-o", self.folder.path, origin.url,
                "http://127.0.0.1:\(other.origin.port)/second.bin",
            ])
        // The second line of a frame, and the way back up from it.
        try terminal.waitForText("\u{1B}[1A")
        other.release.change { $0 = true }
        try terminal.waitForText("second.bin  failed")
        origin.release.change { $0 = true }
        #expect(try terminal.waitForExit() == 4)
        #expect(terminal.text.contains("data.bin  failed"), "\(terminal.text)")
    }

    @Test func `a body that is sent slowly has a bar`() throws {
        let origin = try RawOrigin(answering: response("fine"))
        let file = try self.folder.write([UInt8](repeating: 0x20, count: 1_000_000) + Array("[]".utf8), to: "body.json")
        let terminal = try PseudoTerminal(
            [
                "fetch", "http://127.0.0.1:\(origin.port)/x", "--json", file, "--throttle", "50000/50ms", "-o",
                "\(self.folder.path)/out",
            ])
        #expect(try terminal.waitForExit() == 0)
        #expect(terminal.text.contains("%  sent "), "\(terminal.text)")
    }

    @Test func `without a terminal there is nothing but the body`() throws {
        let origin = try RawOrigin(answering: response("fine"))
        let process = try fetch(
            "http://127.0.0.1:\(origin.port)/x", environment: ["TERM": "xterm", "CLICOLOR_FORCE": "1"])
        #expect(process.output == ["fine"] && process.errors.isEmpty)
    }
}
