// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// `simulation`, `mock` and `faults` (contract §8).
struct SimulationRuleTests {
    private func route(_ rules: String) throws -> SimulationRules {
        try load("version: 1\nroutes:\n  - name: a\n    \(rules)").routes[0].simulation
    }

    @Test func `nothing is simulated by default`() throws {
        let configuration = Configuration()
        #expect(configuration.simulation.allow == .auto && configuration.simulation.seed == nil)
        #expect(try load("version: 1\nroutes: [{name: a}]").routes[0].simulation.isEmpty)
    }

    @Test func `a mock has its content, and the media type that follows from it`() throws {
        let rules = try self.route(
            """
            mock:
                  - {when: {methods: [GET], paths: ["/users/17"]}, json: {id: 17, name: Ada}, delay: 50ms}
                  - {status: 404, body: gone, headers: {Content-Type: text/html}}
                  - {status: 204}
            """)
        let answers = rules.mocks.map { mock -> FixedAnswer? in
            if case .fixed(let answer) = mock.answer { answer } else { nil }
        }
        #expect(answers.map { $0?.status } == [200, 404, 204])
        #expect(
            answers.map { String(decoding: $0?.body ?? [], as: UTF8.self) } == [#"{"id":17,"name":"Ada"}"#, "gone", ""])
        #expect(answers.map { $0?.fields.map(\.value) } == [["application/json"], ["text/html"], []])
        #expect(rules.mocks[0].delay == .fixed(.milliseconds(50)) && rules.keys == ["mock"])
    }

    @Test func `faults have their effects`() throws {
        let rules = try self.route(
            """
            faults:
                  - {when: {first: 2, per: url}, reset: before_response}
                  - {delay: {min: 100ms, max: 2s}}
                  - {delay: {mean: 1s, deviation: 100ms}}
                  - {delay: {median: 1s, p99: 3s}}
                  - {throttle: 64KiB/s}
                  - {truncate: {after: 1KiB}}
                  - {limit: {requests: 60, per: 1m}}
                  - {when: {rate: 10%}, status: 503, headers: {Retry-After: "2"}}
            """)
        let faults = rules.faults
        #expect(faults[0].when.first == 2 && faults[0].when.unit == .url && faults[0].ending == .reset(.beforeResponse))
        #expect(
            faults.map(\.delay) == [
                nil, .range(min: .milliseconds(100), max: .seconds(2)),
                .normal(mean: .seconds(1), deviation: .milliseconds(100)),
                .longTailed(median: .seconds(1), p99: .seconds(3)), nil, nil, nil, nil,
            ])
        #expect(faults[4].bytesPerSecond == 65_536 && faults[5].cutAfter == 1024)
        #expect(faults[7].when.rate == 0.1)
    }

    @Test(
        arguments: [
            (
                "faults: [{status: 503, reset: before_response}]",
                "4:14: routes[0].faults[0]: has status and reset; a fault ends in one way"
            ),
            (
                "faults: [{when: {first: 1}}]",
                "4:14: routes[0].faults[0]: does nothing; give it a delay, throttle, truncate, status, contract, reset or limit"
            ),
            (
                "faults: [{delay: {min: 2s, max: 1s}}]",
                "4:28: routes[0].faults[0].delay.min: min (2s) is more than max (1s)"
            ),
            (
                "faults: [{delay: {min: 2s}}]",
                "4:22: routes[0].faults[0].delay: needs min and max, mean and deviation, or median and p99"
            ),
            (
                "faults: [{throttle: 64KiB}]",
                "4:25: routes[0].faults[0].throttle: \"64KiB\": must be a size in a second, as in 64KiB/s"
            ),
            (
                "faults: [{when: {rate: 110%}, status: 500}]",
                "4:28: routes[0].faults[0].when.rate: \"110%\": must be a part of all, as in 10% or 0.1"
            ),
            (
                "faults: [{when: {per: url}, status: 500}]",
                "4:27: routes[0].faults[0].when.per: needs first, the number that is counted"
            ),
            (
                "faults: [{status: 500, truncate: {after: 1}}]",
                "4:38: routes[0].faults[0].truncate: has nothing to cut: status takes the place of the origin's answer"
            ),
            (
                "faults: [{delay: 1s, json: {}}]",
                "4:32: routes[0].faults[0].json: belongs to an answer; give its status, too"
            ),
            (
                "mock: [{status: 204, json: {}}]",
                "4:12: routes[0].mock[0]: a response with the status 204 has no content"
            ),
            (
                "mock: [{body: a, json: {}}]",
                "4:12: routes[0].mock[0]: has body and json; a message has one content"
            ),
            (
                "mock: [{headers: {Content-Length: \"1\"}}]",
                "4:23: routes[0].mock[0].headers.Content-Length: frames the message; Pintle writes it anew for every message"
            ),
        ])
    func `faults of the file are told with their places`(rules: String, expected: String) {
        let found = problems("version: 1\nroutes:\n  - name: a\n    \(rules)")
        #expect(found == ["pintle.yaml:\(expected)"])
    }

    @Test(arguments: ["cache: {policy: protocol}", "coalesce: {}"])
    func `a route with mocks keeps no answers`(key: String) {
        let found = problems("version: 1\nroutes:\n  - name: a\n    mock: [{status: 200}]\n    \(key)")
        #expect(found.count == 1 && found[0].contains("has no effect beside mock"), "\(found)")
    }

    @Test func `simulations are refused where other machines reach the proxy, unless the file says so`() throws {
        let routes = "routes:\n  - name: a\n    mock: [{status: 200}]"
        #expect(problems("version: 1\nlisten: [\"127.0.0.1:3128\", \"unix:/tmp/p\"]\n\(routes)").isEmpty)
        let open = "version: 1\nlisten: \"0.0.0.0:3128\"\n"
        let found = problems(open + routes)
        #expect(
            found.count == 1
                && found[0].hasPrefix("pintle.yaml:4:5: routes: the route has mock, and other machines reach the"))
        #expect(problems(open + "simulation: {allow: on}\n" + routes).isEmpty)
        #expect(problems(open + "faults: {bad: [{status: 500}]}").isEmpty)
        let off = problems("version: 1\nsimulation: {allow: off}\n" + routes)
        #expect(off == ["pintle.yaml:4:5: routes: simulation.allow is off, and the route has mock"])
    }
}
