// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import PintleActivity
import PintleTesting
import Testing

/// The thread between those who log and those who read.
@Suite struct LogWriterTests {
    private let losses = Watched<[LogWriter.Loss]>([])

    private func logger(_ writer: LogWriter) -> Logger {
        Logger(label: "test") { _ in LineLogHandler(format: .text, threshold: LogThreshold(.info), writer: writer) }
    }

    private func makeWriter(_ pipe: Pipe, capacity: Int) -> LogWriter {
        LogWriter(borrowing: pipe.writing, capacity: capacity) { [losses] loss in losses.change { $0.append(loss) } }
    }

    @Test func `LOOK-11 a log that nobody reads holds nobody up, and says once that lines are dropped`() throws {
        let pipe = try Pipe()
        let writer = self.makeWriter(pipe, capacity: 64 * 1024)
        let logger = self.logger(writer)
        // Text as long as a pipe's default capacity and the queue, twice.
        let long = String(repeating: "x", count: 960)
        for number in 0..<200 { logger.info("m", metadata: ["number": "\(number)", "long": "\(long)"]) }
        #expect(!writer.flush(within: .milliseconds(10)))
        #expect(writer.dropped > 0 && writer.failures == 0)
        #expect(self.losses.current == [.dropped(capacity: 64 * 1024)])

        // A late reader gets whole lines, in order.
        let kept = 200 - writer.dropped
        var text = ""
        while text.count(where: \.isNewline) < kept { text += pipe.text() }
        #expect(writer.flush(within: .seconds(60)))
        let lines = text.split(separator: "\n")
        let numbers = lines.compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("number=") }.flatMap { Int($0.dropFirst(7)) }
        }
        #expect(lines.count == kept && numbers.count == kept && numbers == numbers.sorted())
        #expect(lines.allSatisfy { $0.contains(" long=\(long) ") })
    }

    @Test func `LOOK-11 what was logged before the last writer goes is still written`() throws {
        let pipe = try Pipe()
        var writer: LogWriter? = self.makeWriter(pipe, capacity: 1 << 20)
        if let writer { self.logger(writer).info("last") }
        writer = nil
        #expect(pipe.text().hasSuffix(" info  last\n"))
    }

    @Test func `LOOK-11 a reader that is gone costs lines, and is told of once`() throws {
        let pipe = try Pipe()
        pipe.closeReading()
        let writer = self.makeWriter(pipe, capacity: 1 << 20)
        let logger = self.logger(writer)
        for _ in 0..<3 { logger.info("m") }
        #expect(writer.flush(within: .seconds(60)))
        #expect(writer.failures == 3 && writer.dropped == 0)
        #expect(self.losses.current == [.failed(EPIPE)])
    }
}
