// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

struct TracingRuleTests {
    private func tracing(_ map: String) throws -> TracingConfiguration? {
        try load("version: 1\ntracing: \(map)").tracing
    }

    @Test(arguments: ["off", "false", "no"])
    func `traces are off unless a receiver is named`(word: String) throws {
        #expect(try self.tracing(word) == nil)
        #expect(Configuration().tracing == nil)
    }

    @Test func `the defaults record everything, and continue the traces of trusted clients`() throws {
        let tracing = try #require(try self.tracing("{otlp: \"http://127.0.0.1:4318\"}"))
        #expect(tracing.sample == 1 && tracing.continuation == .trusted)
    }

    @Test(arguments: [
        ("http://collector:4318", "http://collector:4318/v1/traces"),
        ("http://collector:4318/", "http://collector:4318/v1/traces"),
        ("https://Traces.example/otlp", "https://traces.example/otlp"),
        ("https://traces.example/?key=1", "https://traces.example/?key=1"),
    ])
    func `an address of a receiver gets the usual path`(text: String, url: String) throws {
        #expect(try self.tracing("{otlp: \"\(text)\"}")?.receiver.description == url)
    }

    @Test(arguments: [("0", 0), ("1", 1), ("0.25", 0.25), ("1.0", 1), (".5", 0.5)])
    func `the fraction is a decimal number`(text: String, fraction: Double) throws {
        #expect(try self.tracing("{otlp: \"http://a.test\", sample: \(text)}")?.sample == fraction)
    }

    @Test(
        arguments: [
            (
                "{sample: 0.5}",
                [":10: tracing: the key \"otlp\" is missing: the URL of a receiver, as in http://127.0.0.1:4318"]
            ),
            ("on", [":10: tracing: must be a map, not \"on\""]),
            (
                "{otlp: 127.0.0.1}",
                [":17: tracing.otlp: \"127.0.0.1\": the URL has no scheme; begin it with https:// or http://"]
            ),
            (
                "{otlp: \"http://127.0.0.1:3128/\"}",
                [":17: tracing.otlp: 127.0.0.1:3128 is this proxy, which listens on 127.0.0.1:3128: a loop"]
            ),
            (
                "{otlp: \"http://a.test\", sample: 1.5, continue: some}",
                [
                    ":42: tracing.sample: \"1.5\": must be a fraction from 0 to 1, as in 0.1",
                    ":57: tracing.continue: \"some\": must be off, trusted or networks, as in [10.0.0.0/8]; not an address or "
                        + "network, as in 10.0.0.0/8 or 2001:db8::/32",
                ]
            ),
            (
                "{otlp: \"http://a.test\", continue: [trusted, 10.0.0.0/8]}",
                [":45: tracing.continue[0]: \"trusted\": must be alone, not in a list"]
            ),
        ] as [(String, [String])])
    func `faults are told with their places`(map: String, expected: [String]) {
        #expect(problems("version: 1\ntracing: \(map)") == expected.map { "pintle.yaml:2\($0)" })
    }

    @Test(arguments: ["-0.1", "1.1", "nan", "inf", "0x1", "1e-3", "half", "."])
    func `nothing else is one`(text: String) {
        #expect(problems("version: 1\ntracing: {otlp: \"http://a.test\", sample: \(text)}").count == 1)
    }

    @Test(
        arguments: [
            ("off", .off), ("trusted", .trusted), ("10.0.0.0/8", .networks(["10.0.0.0/8"])),
            ("[10.0.0.0/8, \"::1\"]", .networks(["10.0.0.0/8", "::1"])),
        ] as [(String, Expected)])
    func `the clients whose traces are continued are named`(text: String, expected: Expected) throws {
        let tracing = try #require(try self.tracing("{otlp: \"http://a.test\", continue: \(text)}"))
        let continuation: TracingConfiguration.Continuation =
            switch expected {
            case .off: .off
            case .trusted: .trusted
            case .networks(let texts): .networks(try texts.map { try CIDR($0) })
            }
        #expect(tracing.continuation == continuation)
    }

    enum Expected: Sendable { case off, trusted, networks([String]) }
}
