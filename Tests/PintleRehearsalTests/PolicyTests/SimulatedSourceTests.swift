// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleRehearsal
import Testing

/// Tests that ask what answers: the origin, or a simulation in its place.
struct SimulatedSourceTests {
    private static let contract = #"""
        {"openapi":"3.1.0","paths":{"/pets":{"get":{"responses":{"200":{"content":{"application/json":{"example":{"id":1}}}}}},
         "post":{"responses":{"201":{"content":{"application/json":{"schema":{"type":"object"}}}}}}}}}
        """#

    private static let policy = """
        routes:
          - name: users
            match: {hosts: [api.example.com]}
            mock:
              - {when: {methods: [GET], paths: ["/users/17"]}, json: {id: 17}, status: 203}
              - {when: {paths: ["/chance"], rate: 50%}, json: {}}
            faults:
              - {when: {paths: ["/first"], first: 1}, status: 503}
              - {when: {paths: ["/slow"]}, delay: 1s}
              - {when: {paths: ["/reset"]}, reset: before_response}
              - {when: {paths: ["/chance"], rate: 10%}, status: 500}
          - name: pets
            match: {hosts: [pets.example.com]}
            contract: api.json
            mock: [{openapi: examples}, {when: {methods: [POST]}, json: [], status: 299}]
          - name: judged
            match: {hosts: [judged.example.com]}
            response: {content_types: [text/html]}
            mock: [{json: {}}]
          - name: tape
            match: {hosts: [tape.example.com]}
            response: {status: [200]}
            replay: {tape: t}
          - name: recorder
            match: {hosts: [recorder.example.com]}
            replay: {tape: t, mode: record}
        """

    private func differences(_ tests: String) throws -> [String] {
        let stage = PolicyTestStage(policy: Self.policy, tests: tests, files: ["api.json": Self.contract])
        return try stage.differences()
    }

    @Test(arguments: [
        ("GET", "http://api.example.com/users/17", "source: mock, simulation: \"mock[0]\", status: 203"),
        ("POST", "http://api.example.com/users/17", "source: origin, simulation: absent"),
        ("GET", "http://api.example.com/first", "source: fault, simulation: \"faults[0]\", status: 503"),
        ("GET", "http://api.example.com/slow", "source: fault, simulation: \"faults[1]\""),
        ("GET", "http://api.example.com/reset", "source: fault, simulation: \"faults[2]\", status: absent"),
        ("GET", "http://api.example.com/chance", "source: origin, simulation: absent"),
        ("GET", "http://pets.example.com/pets", "source: mock, simulation: \"mock[0]\", status: 200"),
        ("POST", "http://pets.example.com/pets", "source: mock, simulation: \"mock[1]\""),
        ("GET", "http://judged.example.com/", "source: mock, status: 502, problem: response-content-type"),
        ("GET", "http://tape.example.com/", "source: recording, simulation: replay"),
        ("GET", "http://recorder.example.com/", "source: origin, simulation: absent"),
        ("GET", "http://other.example.com/", "source: origin"),
    ])
    func `the first request of all is answered by`(method: String, url: String, expected: String) throws {
        #expect(
            try self.differences("- {name: a, request: {method: \(method), url: \"\(url)\"}, expect: {\(expected)}}")
                == [])
    }

    @Test func `a response stands for the recording that is played`() throws {
        let test = """
            - name: a
              request: {url: "http://tape.example.com/"}
              response: {status: 404}
              expect: {source: recording, problem: response-status}
            """
        #expect(try self.differences(test) == [])
    }

    @Test func `a destination at which the proxy listens is refused, unless something else answers for it`() throws {
        let stage = PolicyTestStage(
            policy: "routes: [{name: m, match: {paths: [/mock]}, mock: [{json: {}}]}]",
            tests: """
                - name: its own
                  request: {url: "http://127.0.0.1:3128/"}
                  expect: {decision: deny, problem: destination-denied, status: 403, rule: absent, upstream: absent}
                - name: a tunnel to it
                  request: {method: CONNECT, url: "localhost:3128"}
                  expect: {decision: deny, problem: destination-denied, status: 403}
                - name: a mock
                  request: {url: "http://127.0.0.1:3128/mock"}
                  expect: {decision: allow, source: mock}
                """)
        #expect(try stage.differences() == [])
    }

    @Test func `another source than expected fails, and a word that is none is refused`() throws {
        let found = try self.differences(
            "- {name: a, request: {url: \"http://api.example.com/users/17\"}, expect: {source: origin, simulation: absent}}"
        )
        #expect(found == ["source: expected origin, found mock", "simulation: expected absent, found mock[0]"])
    }
}
