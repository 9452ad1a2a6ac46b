// SPDX-License-Identifier: Apache-2.0

import Logging
import PintleActivity
import PintleMessage
import PintleTesting
import PintleWatch
import Testing

@testable import pintle

struct SpanBatchTests {
    private let start = ContinuousClock.now

    private func spans(_ count: Int) -> [TraceSpan] {
        var generator = SystemRandomNumberGenerator()
        let trace = ExchangeTrace(
            RequestHead(method: "GET", target: .asterisk), continues: false, sampling: TraceSampling(1),
            using: &generator)
        let record = ExchangeRecord(time: .now(), id: "a-1")
        let span = ExchangeSpans(record, trace, isComplete: true, redaction: .on).spans[0]
        return Array(repeating: span, count: count)
    }

    @Test func `spans wait for others, but not for long`() {
        var batch = SpanBatch()
        #expect(batch.timeLeft(at: self.start) == nil && batch.take(at: self.start, isLast: true) == nil)
        batch.add([], at: self.start)
        #expect(batch.timeLeft(at: self.start) == nil)
        batch.add(self.spans(2), at: self.start)
        batch.add(self.spans(1), at: self.start + .seconds(3))
        #expect(batch.timeLeft(at: self.start + .seconds(3)) == .seconds(2))
        #expect(batch.take(at: self.start + .milliseconds(4999), isLast: false) == nil)
        #expect(batch.take(at: self.start + .seconds(5), isLast: false)?.count == 3)
        #expect(batch.timeLeft(at: self.start + .seconds(5)) == nil)
    }

    @Test func `a full batch goes at once, and the rest in further ones`() {
        var batch = SpanBatch()
        batch.add(self.spans(1100), at: self.start)
        #expect(batch.timeLeft(at: self.start) == .zero)
        #expect(batch.take(at: self.start, isLast: false)?.count == 512)
        #expect(batch.take(at: self.start, isLast: false)?.count == 512)
        #expect(batch.take(at: self.start, isLast: false) == nil)
        #expect(batch.take(at: self.start, isLast: true)?.count == 76)
        #expect(batch.spans.isEmpty)
    }
}

struct LostSpansTests {
    private let lines = Watched<[String]>([])
    private let losses: LostSpans
    private let start = ContinuousClock.now

    init() {
        let lines = self.lines
        self.losses = LostSpans(logger: Logger(label: "test") { _ in RecordingHandler(lines: lines) })
    }

    @Test func `there is one warning a minute, with the numbers since the start`() {
        self.losses.note("away", at: self.start)
        self.losses.note("away", spans: 2, at: self.start + .seconds(30))
        self.losses.note("full", spans: 3, exchanges: 7, at: self.start + .seconds(61))
        self.losses.note("full", spans: 1, at: self.start + .seconds(62))
        #expect(
            self.lines.current == [
                "traces.incomplete lost_exchanges=0 lost_spans=0 reason=away",
                "traces.incomplete lost_exchanges=7 lost_spans=5 reason=full",
            ])
    }

    @Test func `the end tells what no warning has told`() {
        self.losses.finish()
        #expect(self.lines.current.isEmpty)
        self.losses.note("away", spans: 1, at: self.start)
        self.losses.finish()
        #expect(self.lines.current.count == 1)
        self.losses.note("away", spans: 1, at: self.start)
        self.losses.finish()
        #expect(
            self.lines.current.last
                == "traces.incomplete lost_exchanges=0 lost_spans=2 reason=not all spans were delivered")
    }
}

/// Keeps each message with its metadata.
private struct RecordingHandler: LogHandler {
    let lines: Watched<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        self.lines.change { $0.append(([event.message.description] + facts).joined(separator: " ")) }
    }
}
