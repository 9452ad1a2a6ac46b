// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleRehearsal
import Testing

/// The facts that tests compare, each found as live traffic would be decided.
struct PolicyTestRunnerTests {
    private static let policy = """
        clients: {allow: ["127.0.0.0/8", "10.0.0.0/8"]}
        destinations: {deny: ["*.ads.example"]}
        trust:
          payments:
            hosts: [api.pay.example]
            pinning: public_key
            pins: ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        routes:
          - name: charge
            match: {hosts: [api.pay.example], methods: [POST], paths: ["/v1/**"]}
            upstream: "https://api.pay.example/"
            request:
              headers: {remove: [Cookie], set: {X-Team: core}, add: {X-Trace: "on"}}
              serialize: json
            response: {status: [2xx], content_types: [application/json], body: json, max_body: 64}
          - name: pictures
            match: {hosts: [img.example]}
            response:
              content_types: [image/png]
              on_violation: placeholder
              placeholder: {file: missing.png, status: 404}
        """

    private func stage(_ tests: String) -> PolicyTestStage {
        PolicyTestStage(policy: Self.policy, tests: tests, files: ["missing.png": "png"])
    }

    @Test func `every kind of demand can be met`() throws {
        let stage = self.stage(
            """
            - name: ads are refused
              request: {method: GET, url: "http://x.ads.example/"}
              expect: {decision: deny, rule: "destinations.deny[0]", problem: destination-denied, status: 403, upstream: absent}
            - name: a charge is pinned and answers JSON
              request:
                method: POST
                url: "http://api.pay.example/v1/charges"
                form: {amount: 1, note: [a, b]}
                headers: {Cookie: a=b, X-Trace: client}
              expect:
                decision: allow
                rule: destinations.default
                route: charge
                upstream: "https://api.pay.example/v1/charges"
                trust: payments
                method: POST
                problem: absent
                headers: {Cookie: absent, X-Team: core, X-Trace: [client, "on"], content-type: /^application.json/}
                json: {note: [a, b], amount: "1"}
            - name: a page instead of a document
              request: {method: POST, url: "http://api.pay.example/v1/charges"}
              response: {status: 500, headers: {Content-Type: text/html}, body: "<html>"}
              violations: [response-content-type, response-status]
              expect: {decision: reject, status: 502, problem: response-status}
            - name: a document that is none
              request: {method: POST, url: "http://api.pay.example/v1/charges"}
              response: {headers: {Content-Type: application/json}, body: "{"}
              violations: [response-body]
            - name: a document
              request: {method: POST, url: "http://api.pay.example/v1/charges"}
              response: {json: {id: 1}}
              violations: []
              expect: {decision: allow, status: 200}
            - name: a long document
              request: {method: POST, url: "http://api.pay.example/v1/charges"}
              response: {json: ["0123456789012345678901234567890123456789012345678901234567890123456789"]}
              violations: [body-too-large]
              expect: {decision: error, problem: body-too-large}
            - name: a placeholder
              request: {url: "http://img.example/a.png"}
              response: {headers: {Content-Type: text/html}}
              violations: [response-content-type]
              expect: {status: 404, decision: reject}
            - name: a client from elsewhere
              request: {url: "http://a.example/", client: {address: 192.0.2.7}}
              expect: {decision: deny, rule: clients.allow, problem: client-denied, route: absent}
            - name: a tunnel past the rules of a route
              request: {method: CONNECT, url: "api.pay.example:443"}
              expect: {decision: deny, problem: destination-denied}
            - name: a tunnel
              request: {url: "a.example:443", mode: tunnel}
              expect: {decision: allow, upstream: "a.example:443", status: 200}
            - name: the gateway without a route
              request: {url: "http://a.example/x", mode: gateway}
              expect: {decision: error, problem: bad-request}
            - name: the last hop
              request: {method: TRACE, url: "http://a.example/", headers: {Max-Forwards: 0}}
              expect: {status: 200, upstream: absent}
            """)
        #expect(try stage.differences() == [])
    }

    @Test(arguments: [
        ("{decision: deny}", "decision: expected deny, found allow"),
        ("{rule: destinations.deny}", "rule: expected destinations.deny, found destinations.default"),
        (
            "{route: chargs}",
            "route: expected chargs, found charge (the configuration has no route of this name; did you mean charge?)"
        ),
        ("{route: absent}", "route: expected absent, found charge"),
        ("{problem: bad-request}", "problem: expected bad-request, found absent"),
        ("{upstream: /^http:/}", "upstream: expected /^http:/, found https://api.pay.example/v1/c?q=***"),
        ("{headers: {X-Team: other}}", "headers.X-Team: expected other, found ***"),
        ("{headers: {Accept: a/b}}", "headers.Accept: expected a/b, found absent"),
        ("{headers: {X-Trace: [a, b]}}", "headers.X-Trace: expected a, b, found 1 lines: ***"),
        ("{json: {b: 1}}", "json: expected {\"b\":1}, found {\"a\":1}"),
        ("{body: x}", "body: expected x, found {\"a\":1}"),
        ("{status: 200}", "status: expected 200, found absent (the origin's; give the test a response)"),
        (
            "{trust: {exact: absent}}",
            "trust: expected absent, found payments (the configuration has no trust policy of this name)"
        ),
    ])
    func `a difference tells what was expected and found`(expect: String, difference: String) throws {
        let stage = self.stage(
            """
            - name: a
              request: {method: POST, url: "http://api.pay.example/v1/c?q=s3cret", json: {a: 1}}
              expect: \(expect)
            """)
        #expect(try stage.differences() == [difference])
    }

    @Test func `a failure has the reasons with the places of the rules`() throws {
        let stage = self.stage(
            """
            - name: a
              request: {url: "http://x.ads.example/"}
              expect: {decision: allow}
            """)
        let result = try #require(try stage.run().first)
        let denial = try #require(result.reasons.first { $0.text.hasPrefix("destination") })
        #expect(denial.text.hasSuffix("x.ads.example:80 is denied by destinations.deny[0] \"*.ads.example\""))
        #expect(denial.position?.description == "3:23")
        #expect(result.differences.first?.position.description == "3:22")
    }

    @Test func `an expression that needs too many steps is a failure that says so`() throws {
        let body = String(repeating: "a", count: 40)
        let stage = PolicyTestStage(
            policy: "",
            tests: """
                - name: a
                  request: {method: POST, url: "http://a.example/", body: "\(body)"}
                  expect: {body: "/^(a+)+$b|^(a|aa)+$c|(a*)*b/"}
                """)
        let found = try stage.differences()
        #expect(found.count == 1 && found[0].contains("too many steps"), "\(found)")
    }

    @Test func `what is only reported is told as what would be`() throws {
        let stage = PolicyTestStage(
            policy: """
                enforcement: report
                destinations: {deny: ["*.ads.example"]}
                routes:
                  - name: json
                    match: {hosts: [a.example]}
                    response: {body: json}
                """,
            tests: """
                - name: a destination
                  request: {url: "http://x.ads.example/"}
                  expect: {decision: would-deny, would: destination-denied, rule: "destinations.deny[0]"}
                  violations: [destination-denied]
                - name: a response
                  request: {url: "http://a.example/"}
                  response: {status: 201, headers: {Content-Type: application/json}, body: "["}
                  violations: [response-body]
                  expect: {decision: allow, would: response-body, status: 201}
                """)
        #expect(try stage.differences() == [])
    }

    @Test func `a client must be a user where there are users`() throws {
        var stage = PolicyTestStage(
            policy: "clients: {basic_auth: {users: users}}",
            tests: """
                - name: nobody
                  request: {url: "http://a.example/"}
                  expect: {decision: deny, problem: proxy-auth-required, status: 407}
                - name: a user
                  request: {url: "http://a.example/", client: {user: alice}}
                  expect: {decision: allow}
                - name: somebody else
                  request: {url: "http://a.example/", client: {user: mallory}}
                  expect: {problem: proxy-auth-required}
                - name: in a tunnel that was opened by a user
                  request: {url: "https://a.example/", mode: intercept}
                  expect: {decision: allow}
                """)
        stage.files["users"] = "alice:$2y$05$abcdefghijklmnopqrstuuSFJ7NPVyGjIgWjpGyPV6Cd6ZMR5xE1a"
        #expect(try stage.differences() == [])
    }

    @Test func `each operation of an API contract is a part of its own`() throws {
        var stage = PolicyTestStage(
            policy: """
                routes:
                  - {name: pets, match: {hosts: [pets.example]}, contract: {file: api.yaml}}
                """,
            tests: """
                - name: a
                  request: {url: "http://pets.example/pets/7"}
                  response: {json: {name: Ada}}
                  violations: []
                """)
        stage.files["api.yaml"] = """
            openapi: 3.1.0
            info: {title: Pets, version: "1"}
            paths:
              /pets: {get: {responses: {"200": {description: all}}}, post: {responses: {"201": {description: made}}}}
              /pets/{id}:
                get:
                  parameters: [{name: id, in: path, required: true, schema: {type: string}}]
                  responses: {"200": {description: one, content: {application/json: {schema: {type: object}}}}}
            """
        var runner = try stage.runner()
        for test in try stage.read() { #expect(runner.run(test).differences.isEmpty) }
        let unreached = runner.coverage.unreached.filter { $0.kind == .contracts }.map { "\($0.name) \($0.position)" }
        #expect(unreached == ["routes[0] contract GET /pets 3:67", "routes[0] contract POST /pets 3:67"])
        #expect(runner.coverage.count(of: .contracts) == (1, 3))
    }

    @Test func `rules for named clients are tested with users and tags`() throws {
        var stage = PolicyTestStage(
            policy: """
                clients: {basic_auth: {users: users}}
                destinations: {default: deny, allow: [{host: a.example, users: [alice], tags: ["suite-*"]}]}
                """,
            tests: """
                - name: her suite
                  request: {url: "http://a.example/", client: {user: alice, tag: suite-1}}
                  expect: {decision: allow, rule: "destinations.allow[0]"}
                - name: another suite
                  request: {url: "http://a.example/", client: {user: alice, tag: other}}
                  expect: {decision: deny, rule: destinations.default}
                - name: no tag
                  request: {method: CONNECT, url: "a.example:443", client: {user: alice}}
                  expect: {decision: deny, rule: destinations.default}
                """)
        stage.files["users"] = "alice:$2y$05$abcdefghijklmnopqrstuuSFJ7NPVyGjIgWjpGyPV6Cd6ZMR5xE1a"
        #expect(try stage.differences().isEmpty)
    }

    @Test func `coverage tells which parts no test reached`() throws {
        let stage = self.stage(
            """
            - name: a
              request: {url: "http://x.ads.example/"}
              expect: {decision: deny}
            - name: b
              request: {url: "http://img.example/a.png"}
              response: {headers: {Content-Type: image/png}}
              violations: []
            """)
        var runner = try stage.runner()
        for test in try stage.read() { _ = runner.run(test) }
        let coverage = runner.coverage
        #expect(
            coverage.unreached.map { "\($0.kind.rawValue) \($0.name) \($0.position)" } == [
                "rules clients.allow[1] \"10.0.0.0/8\" 2:34", "routes routes[0] \"charge\" 10:5",
                "pins trust.payments 5:3", "contracts routes[0] response \"charge\" 10:5",
            ])
        #expect(PolicyCoverage.Kind.allCases.map { coverage.percentage(of: $0) } == [66, 50, 0, 50])
    }
}
