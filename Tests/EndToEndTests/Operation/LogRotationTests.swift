// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `log.exchanges: PATH` after the file was moved away, as logrotate does it.
struct LogRotationTests {
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
    }

    private func start(_ path: String = "exchanges.log") throws -> PintleProcess {
        try PintleProcess("", log: "{format: json, exchanges: \"\(path)\"}", folder: self.folder)
    }

    private func lines(_ name: String) throws -> [String] {
        let text = try String(contentsOfFile: "\(self.folder.path)/\(name)", encoding: .utf8)
        guard text.isEmpty || text.hasSuffix("\n") else { throw TestFailure("\(name) ends within a line") }
        return text.split(separator: "\n").map(String.init)
    }

    private func move(_ name: String, to other: String) {
        rename("\(self.folder.path)/\(name)", "\(self.folder.path)/\(other)")
    }

    private func reload() throws -> ChildProcess {
        try PintleProcess.run(["reload"], environment: ["XDG_STATE_HOME": self.folder.path])
    }

    @Test func `lines go on in the new file, none of them lost, doubled or cut`() throws {
        let pintle = try self.start()
        let failure = Watched<String?>(nil)
        let done = Watched(0)
        let (origin, rounds) = (self.origin.port, 150)
        for _ in 0..<4 {
            inBackground(failure) {
                defer { done.change { $0 += 1 } }
                for number in 0..<rounds { _ = try pintle.ask(get(origin, "/\(number)")) }
            }
        }
        var files: [String] = []
        while done.current < 4, failure.current == nil {
            let name = "exchanges.log.\(files.count)"
            self.move("exchanges.log", to: name)
            files.append(name)
            pintle.process.signal(SIGHUP)
            _ = try pintle.waitForMessages("reloaded \(self.folder.path)/pintle.yaml", files.count)
        }
        #expect(failure.current == nil)
        #expect(try pintle.stop() == 0)
        let all = try (files + ["exchanges.log"]).flatMap { try self.lines($0) }
        let ids = all.compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["id"] as? String
        }
        #expect(
            all.count == 4 * rounds && Set(ids).count == 4 * rounds, "\(all.count) lines in \(files.count + 1) files")
        #expect(files.count > 2)
    }

    @Test func `the log is opened anew also where the rest of a reload is refused`() throws {
        let pintle = try self.start()
        _ = try pintle.ask(get(self.origin.port, "/before"))
        self.move("exchanges.log", to: "old.log")
        try self.folder.write("nonsense", to: "pintle.yaml")
        #expect(try self.reload().exitCode == 3)
        _ = try pintle.ask(get(self.origin.port, "/after"))
        #expect(try pintle.stop() == 0)
        let (old, new) = (try self.lines("old.log"), try self.lines("exchanges.log"))
        #expect(old.count == 1 && old[0].contains("/before") && new.count == 1 && new[0].contains("/after"))
    }

    @Test func `a file that cannot be opened leaves the old one in use, and that is said`() throws {
        try self.folder.write("", to: "logs/keep")
        let pintle = try self.start("logs/exchanges.log")
        self.move("logs", to: "moved")
        let process = try self.reload()
        #expect(process.exitCode == 4, "\(process.lines)")
        #expect(
            process.errors.contains {
                $0.contains("log.exchanges: cannot open the exchange log \(self.folder.path)/logs/exchanges.log")
                    && $0.contains("lines go on into the file that was open")
            }, "\(process.lines)")
        #expect(process.errors.contains { $0.contains("reloaded ") }, "the rest takes effect: \(process.lines)")
        _ = try pintle.ask(get(self.origin.port))
        #expect(try pintle.stop() == 0)
        #expect(try self.lines("moved/exchanges.log").count == 1)
    }

    @Test func `a pipe that nobody reads any more holds nobody up`() throws {
        let path = "\(self.folder.path)/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let unread = try self.folder.write(
            "version: 1\nlog: {exchanges: pipe}\nlisten: \"127.0.0.1:0\"\n", to: "unread.yaml")
        let refused = try PintleProcess.run(["serve", "-c", unread])
        #expect(refused.exitCode == 4 && refused.errors.contains { $0.contains("cannot open the exchange log") })
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let pintle = try self.start("pipe")
        #expect(try pintle.ask(get(self.origin.port)).text == "done")
        close(reader)
        #expect(try self.reload().exitCode == 4)
        #expect(try pintle.ask(get(self.origin.port)).text == "done")
        #expect(try pintle.stop() == 0)
    }

    @Test func `LOOK-11 a log that nobody reads holds up neither requests nor the end`() throws {
        let path = "\(self.folder.path)/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        // Open, so that the pipe fills up; a pipe holds some two hundred lines.
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let pintle = try self.start("pipe")
        let client = try pintle.connect()
        for _ in 0..<500 {
            try client.send(get(self.origin.port))
            #expect(try client.readResponse().text == "done")
        }
        #expect(try self.reload().exitCode == 0, "a reload waits for no reader either")
        #expect(try pintle.stop() == 0)
        close(reader)
    }
}
