// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@testable import PintleWatch

struct ExchangeTraceTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-"

    private func trace(_ fields: Fields, continues: Bool, sample: Double = 1) -> ExchangeTrace {
        var generator = SeededGenerator(seed: 3)
        return ExchangeTrace(
            RequestHead(method: "GET", target: .origin(path: "/"), fields: fields), continues: continues,
            sampling: TraceSampling(sample), using: &generator)
    }

    @Test(arguments: ["01", "00"], [0.0, 1.0])
    func `a continued trace is recorded if its sender has recorded it`(flags: String, sample: Double) {
        let trace = self.trace(
            ["traceparent": Self.parent + flags, "tracestate": "a=1", "tracestate": "b=2"], continues: true,
            sample: sample)
        #expect(trace.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(trace.parent?.description == "00f067aa0ba902b7" && trace.state == "a=1,b=2")
        #expect(trace.isSampled == (flags == "01"))
        #expect(Set([trace.parent, trace.server, trace.client]).count == 3)
    }

    @Test(arguments: [nil, "malformed", parent + "01"])
    func `without a trace that may be continued a new one begins`(value: String?) {
        var fields: Fields = ["tracestate": "a=1"]
        if let value { fields.append("traceparent", value) }
        let continues = value != Self.parent + "01"
        let trace = self.trace(fields, continues: continues)
        #expect(trace.traceID.description != "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(trace.parent == nil && trace.state.isEmpty && trace.isSampled)
        #expect(!self.trace(fields, continues: continues, sample: 0).isSampled)
        trace.fill(&fields)
        #expect(fields == ["traceparent": "00-\(trace.traceID)-\(trace.client)-01"])
    }

    @Test func `the request to the origin names the CLIENT span, and keeps the state of its trace`() {
        var fields: Fields = ["Traceparent": Self.parent + "00", "tracestate": "a=1", "Accept": "*/*"]
        let trace = self.trace(fields, continues: true)
        trace.fill(&fields)
        #expect(fields.values(of: "traceparent") == ["00-\(trace.traceID)-\(trace.client)-00"])
        #expect(fields["tracestate"] == "a=1" && fields["Accept"] == "*/*")
    }
}
