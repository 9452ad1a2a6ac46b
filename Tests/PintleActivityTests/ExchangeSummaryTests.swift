// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import PintleActivity
import Testing

/// Lines for people at a terminal.
@Suite struct ExchangeSummaryTests {
    private func line(_ style: TerminalStyle, _ change: (inout ExchangeRecord) -> Void) -> String {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1_767_323_045_678), id: "d311c46a-2")
        (record.method, record.url, record.status) = ("GET", "http://a.test/hello.json?key=secret", 200)
        (record.duration, record.bytesOut, record.decision) = (.milliseconds(34), 1536, "allow")
        change(&record)
        var bytes: [UInt8] = []
        ExchangeEncoder(for: style, redaction: .on).encode(record, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The line behind the time, which is that of the machine's zone.
    private func rest(_ change: (inout ExchangeRecord) -> Void) throws -> String {
        let line = self.line(.plain, change)
        let match = try #require(line.wholeMatch(of: /\d\d:\d\d:\d\d  (.*)\n/))
        return String(match.output.1)
    }

    @Test func `columns are aligned, and queries masked`() throws {
        #expect(
            try self.rest { _ in } == "200  GET        34 ms    1.5 KiB  http://a.test/hello.json?key=***  d311c46a-2")
        let tunnel = try self.rest { record in
            (record.method, record.url, record.duration, record.bytesOut) = ("CONNECT", "a.test:443", .seconds(75), 12)
        }
        #expect(tunnel == "200  CONNECT   75.0 s       12 B  a.test:443  d311c46a-2")
        let nothing = try self.rest { record in
            (record.method, record.url, record.status, record.duration, record.bytesOut) = (nil, nil, nil, nil, nil)
        }
        #expect(nothing == "-    -              -          -  -  d311c46a-2")
    }

    @Test func `a denial has its rule, and other faults their words`() throws {
        let denied = try self.rest { record in
            (record.status, record.decision, record.rule) = (403, "deny", "destinations.deny[0] \"*.test\"")
            record.error = "a.test:80 is denied by destinations.deny[0] \"*.test\""
        }
        #expect(denied.hasSuffix("?key=***  denied by destinations.deny[0] \"*.test\"  d311c46a-2"), "\(denied)")
        let broken = try self.rest { record in
            (record.status, record.decision, record.route) = (502, "reject", "orders")
            (record.violations, record.error) = ([.responseBody], "invalid JSON")
        }
        #expect(broken.hasSuffix("  route orders  response-body  invalid JSON  d311c46a-2"), "\(broken)")
        let reported = try self.rest { record in
            (record.decision, record.rule, record.cache) = ("would-deny", "destinations.default", "hit")
        }
        #expect(
            reported.hasSuffix("  cache hit  would be denied by destinations.default  d311c46a-2"), "\(reported)")
    }

    @Test(arguments: [(200, 32), (304, 36), (404, 33), (502, 31)])
    func `the status has the colour of its class`(status: Int, colour: Int) {
        let line = self.line(.coloured) { $0.status = status }
        #expect(line.contains("\u{1B}[\(colour)m\(status)\u{1B}[0m  GET"), "\(line)")
    }

    @Test func `no text of others controls the terminal, and a long URL does not fill it`() throws {
        let line = self.line(.coloured) { record in
            record.url = "http://a.test/\u{1B}[2J" + String(repeating: "x", count: 300)
            (record.route, record.error) = ("r\u{202E}", "\u{9B}31m\n")
        }
        let plain = line.replacing(/\u{1B}\[\d+m/, with: "")
        #expect(!plain.contains("\u{1B}") && !plain.contains("\u{202E}") && !plain.contains("\u{9B}"), "\(plain)")
        #expect(plain.hasSuffix("\n") && plain.count { $0 == "\n" } == 1)
        #expect(plain.contains("…") && plain.count < 260, "\(plain)")
    }
}
