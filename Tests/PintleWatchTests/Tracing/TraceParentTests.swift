// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@testable import PintleWatch

struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(
        arguments: [
            ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-02", false),
            ("00-\(trace)-\(span)-ff", true), ("cc-\(trace)-\(span)-01", true),
            ("01-\(trace)-\(span)-03-and more", true), ("fe-\(trace)-\(span)-01-", true),
        ] as [(String, Bool)])
    func `a value of this version, or of a later one, is read`(text: String, isSampled: Bool) throws {
        let parent = try #require(TraceParent(text))
        #expect(parent.traceID.description == Self.trace && parent.spanID.description == Self.span)
        #expect(parent.isSampled == isSampled)
        #expect(parent.description == "00-\(Self.trace)-\(Self.span)-\(isSampled ? "01" : "00")")
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
        // Version 00 has this length; later ones may have more parts.
        "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-what", "00-\(trace)-\(span)-011",
        "01-\(trace)-\(span)-01what", "ff-\(trace)-\(span)-01",
        // Digits in upper case, and what is no digit.
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-\(span)-01", "00-\(trace)-00F067AA0BA902B7-01", "0A-\(trace)-\(span)-01",
        "00-\(trace)-\(span)-0A", "00-4bf92f3577b34da6a3ce929d0e0e473g-\(span)-01", "0x-\(trace)-\(span)-01",
        "00-\(trace)-00f067aa0ba902b -01", "+0-\(trace)-\(span)-01",
        // Ids that are zero.
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        // Other separators, and parts of other lengths.
        "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01", "00-\(trace)\(span)-01--",
        "0-\(trace)-0\(span)-01", " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ", "00-ä\(trace)-\(span)-01",
    ])
    func `every other value is refused`(text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test func `no byte of a value can be another`() {
        let text = "00-\(Self.trace)-\(Self.span)-01"
        let digits = Set("0123456789abcdef".utf8)
        for index in text.utf8.indices {
            for byte in UInt8(0x20)...0x7E {
                var bytes = Array(text.utf8)
                let place = text.utf8.distance(from: text.utf8.startIndex, to: index)
                let isSeparator = bytes[place] == UInt8(ascii: "-")
                bytes[place] = byte
                // Another version, f0 to fe or 01 to 0f among them, may be of the same length.
                let isRight = isSeparator ? byte == UInt8(ascii: "-") : digits.contains(byte)
                #expect((TraceParent(String(decoding: bytes, as: UTF8.self)) != nil) == isRight, "\(place) \(byte)")
            }
        }
    }

    @Test func `two fields are none`() {
        let text = "00-\(Self.trace)-\(Self.span)-01"
        #expect(TraceParent(["Traceparent": text] as Fields) != nil)
        #expect(TraceParent(["traceparent": text, "traceparent": text] as Fields) == nil)
        #expect(TraceParent([:] as Fields) == nil)
    }

    @Test func `the context of one request replaces that of another`() {
        var target: Fields = ["traceparent": "a", "Accept": "*/*", "tracestate": "b=1"]
        TraceParent.copy(from: ["traceparent": "c", "tracestate": "d=1", "TraceState": "e=1", "Via": "x"], to: &target)
        #expect(target == ["Accept": "*/*", "traceparent": "c", "tracestate": "d=1", "tracestate": "e=1"])
        TraceParent.copy(from: [:], to: &target)
        #expect(target == ["Accept": "*/*"])
    }

    // MARK: Ids

    @Test func `ids are written with all their digits, and none is zero`() {
        #expect(TraceID(high: 0, low: 1)?.description == "00000000000000000000000000000001")
        #expect(TraceID(high: .max, low: 0)?.description == "ffffffffffffffff0000000000000000")
        #expect(TraceID(high: 0, low: 0) == nil)
        #expect(SpanID(0xAB)?.description == "00000000000000ab" && SpanID(0) == nil)
    }

    @Test func `ids are not repeated`() {
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        let traces = Set((0..<10_000).map { _ in TraceID(using: &generator) })
        let spans = Set((0..<10_000).map { _ in SpanID(using: &generator) })
        #expect(traces.count == 10_000 && spans.count == 10_000, "\(Seed.ofThisRun)")
    }
}

struct TraceSamplingTests {
    private func traces(_ count: Int) -> [TraceID] {
        var generator = SeededGenerator(seed: 7)
        return (0..<count).map { _ in TraceID(using: &generator) }
    }

    @Test(arguments: [0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.999])
    func `the chosen fraction is the given one`(fraction: Double) {
        let sampling = TraceSampling(fraction)
        let count = 100_000
        let chosen = self.traces(count).count { sampling.chooses($0) }
        // Five standard deviations of the binomial distribution.
        let tolerance = 5 * (Double(count) * fraction * (1 - fraction)).squareRoot()
        #expect(abs(Double(chosen) - Double(count) * fraction) < tolerance, "\(chosen)")
    }

    @Test func `a smaller fraction chooses a part of what a larger one does`() {
        for trace in self.traces(10_000) where TraceSampling(0.1).chooses(trace) {
            #expect(TraceSampling(0.2).chooses(trace))
        }
    }

    @Test func `the ends choose nothing and everything`() throws {
        let least = try #require(TraceID(high: 1, low: 0))
        let most = try #require(TraceID(high: 0, low: .max))
        for trace in self.traces(1000) + [least, most] {
            #expect(!TraceSampling(0).chooses(trace) && TraceSampling(1).chooses(trace))
            #expect(!TraceSampling(-1).chooses(trace) && TraceSampling(2).chooses(trace))
            #expect(!TraceSampling(.nan).chooses(trace))
        }
    }

    @Test func `the last 56 bits decide, as for all who sample consistently`() throws {
        let half = TraceSampling(0.5)
        #expect(half.chooses(try #require(TraceID(high: 0, low: 0x0080_0000_0000_0000))))
        #expect(!half.chooses(try #require(TraceID(high: .max, low: 0xFF7F_FFFF_FFFF_FFFF))))
    }
}
