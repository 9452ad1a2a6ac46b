// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import PintleActivity
import PintleTesting
import Testing

@Suite struct ExchangeLogTests {
    let captured = CapturedLog()

    private func record(_ id: String) -> ExchangeRecord { ExchangeRecord(time: Timestamp(milliseconds: 0), id: id) }

    private func log(_ path: String) throws -> ExchangeLog {
        try ExchangeLog(.file(path), format: .text, redaction: .on, logger: self.captured.logger)
    }

    private func line(_ id: String) -> String { "time=1970-01-01T00:00:00.000Z id=\(id)\n" }

    @Test(arguments: [
        ("off", ExchangeLog.Destination.off), ("-", .standardOutput), ("/var/log/x", .file("/var/log/x")),
        ("on", .file("on")),
    ])
    func `the configuration names a destination`(text: String, destination: ExchangeLog.Destination) {
        #expect(ExchangeLog.Destination(configuration: text) == destination)
    }

    @Test func `off needs no record`() throws {
        let log = try ExchangeLog(.off, format: .json, redaction: .on, logger: self.captured.logger)
        #expect(!log.isEnabled)
        log.write(self.record("a"))
        try log.reopen()
        #expect(log.failures == 0)
    }

    @Test func `standard output is a destination`() throws {
        let log = try ExchangeLog(.standardOutput, format: .json, redaction: .on, logger: self.captured.logger)
        #expect(log.isEnabled)
        try log.reopen()
    }

    @Test func `a file is created for owner and group and appended to`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/exchanges.log"
        let first = try self.log(path)
        first.write(self.record("a"))
        #expect(first.flush(within: .seconds(60)))
        let second = try self.log(path)
        #expect(second.isEnabled)
        second.write([self.record("b"), self.record("c")])
        second.write([])
        #expect(second.flush(within: .seconds(60)))
        #expect(try contents(of: path) == self.line("a") + self.line("b") + self.line("c"))

        var status = stat()
        #expect(stat(path, &status) == 0)
        // The process's mask may take more away, never add.
        #expect(status.st_mode & 0o777 & ~0o640 == 0)
        #expect(status.st_mode & 0o600 == 0o600)
    }

    @Test func `after rotation the log goes on in a new file`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/exchanges.log"
        let log = try self.log(path)
        log.write(self.record("a"))
        #expect(rename(path, path + ".1") == 0)
        log.write(self.record("b"))
        try log.reopen()
        log.write(self.record("c"))
        #expect(log.flush(within: .seconds(60)))
        #expect(try contents(of: path + ".1") == self.line("a") + self.line("b"))
        #expect(try contents(of: path) == self.line("c"))
    }

    @Test func `a line that a full disk has cut is not gone on with, by the next process or after a reload`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/exchanges.log"
        try directory.write("time=1970", to: "exchanges.log")
        let log = try self.log(path)
        log.write(self.record("a"))
        #expect(log.flush(within: .seconds(60)))
        #expect(try contents(of: path) == "time=1970\n" + self.line("a"))
        try directory.write("time=19", to: "exchanges.log")
        try log.reopen()
        log.write([self.record("b"), self.record("c")])
        #expect(log.flush(within: .seconds(60)))
        #expect(try contents(of: path) == "time=19\n" + self.line("b") + self.line("c"))
    }

    @Test func `a file that cannot be opened is named with the reason`() {
        let error = #expect(throws: LogFileError.self) { try self.log("/nowhere/at/all/x.log") }
        #expect(
            error?.description == "cannot open the exchange log /nowhere/at/all/x.log: no such file or folder")
    }

    @Test func `a full disk is counted and reported once`() throws {
        let log = try self.log("/dev/full")
        log.write(self.record("a"))
        log.write(self.record("b"))
        log.write([self.record("c")])
        #expect(log.flush(within: .seconds(60)))
        #expect(log.failures == 3)
        #expect(self.captured.events.map(\.message.description) == [EventName.exchangeLogFailed.rawValue])
        #expect(
            self.captured.events.first?.metadata == [
                LogKeys.path: "/dev/full", LogKeys.reason: "no space left on the device",
            ])
    }

    @Test func `lines of many threads stay whole`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/exchanges.log"
        let log = try self.log(path)
        onThreads(8) { thread in
            for index in 0..<200 {
                log.write(ExchangeRecord(time: Timestamp(milliseconds: 0), id: "\(thread)-\(index)"))
            }
        }
        #expect(log.flush(within: .seconds(60)))
        let lines = try contents(of: path).split(separator: "\n").map { "\($0)\n" }
        let expected = (0..<8).flatMap { thread in (0..<200).map { self.line("\(thread)-\($0)") } }
        #expect(lines.sorted() == expected.sorted())
    }
}
