// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleRehearsal
import Testing

/// The strictness of files with policy tests.
struct PolicyTestReaderTests {
    private func problems(_ tests: String) -> [String] { PolicyTestStage(tests: tests).problems }

    @Test(arguments: [
        ("- {nam: a, request: {url: \"http://a.test/\"}, expect: {decision: allow}}", "1:4", "did you mean \"name\"?"),
        (
            "- name: a\n  request: {url: \"http://a.test/\", metod: GET}\n  expect: {decision: allow}", "2:36",
            "did you mean \"method\"?"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  expect: {decison: allow}", "3:12",
            "did you mean \"decision\"?"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  expect: {decision: denny}", "3:22", "did you mean deny?"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  expect: {problem: destination-denid}", "3:21",
            "did you mean destination-denied?"
        ),
        ("- name: a\n  request: {url: a.test}\n  expect: {decision: allow}", "2:18", "the URL has no scheme"),
        ("- name: a\n  expect: {decision: allow}", "1:3", "has neither a request nor a chain"),
        ("- name: a\n  request: {url: \"http://a.test/\"}", "1:3", "expects nothing, so it could not fail"),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  expect: {}", "1:3",
            "expects nothing, so it could not fail"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  expect: {pin: match}", "3:11", "pin needs a chain"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  expect: {route: r}\n  response: {status: 200}", "4:13",
            "nothing is expected of it"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\", body: x, json: {}}\n  expect: {route: r}", "2:12",
            "has body and json; a message has one content"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\", method: CONNECT, mode: forward}\n  expect: {route: r}",
            "2:59", "CONNECT asks for a tunnel"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\", headers: {Content-Length: 3}}\n  expect: {route: r}",
            "2:62", "follows from the body"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\", headers: {Proxy-Authorization: x}}\n  expect: {route: r}",
            "2:67", "says who the client is; write client: {user, tag}"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  expect: {route: /(/}", "3:19",
            "is not a regular expression"
        ),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  violations: [response-bod]", "3:16",
            "did you mean response-body?"
        ),
        (
            "- name: a\n  chain: {file: nowhere.pem, host: a.test}\n  expect: {trusted: true}", "2:17", "nowhere.pem"
        ),
        ("- name: a\n  request: {url: /x}\n  expect: {route: r}", "2:18", "add headers: {Host: name}"),
        ("{name: a}", "1:1", "must be a list of tests, not a map; a configuration is named with -c"),
        (
            "- name: a\n  request: {url: \"http://a.test/\"}\n  chain: {file: a.pem, host: a.test}\n  expect: {pin: none}",
            "3:17", "a.pem"
        ),
    ])
    func `a fault is told with its place`(tests: String, place: String, words: String) {
        let problems = self.problems(tests)
        let isTold = problems.contains { $0.hasPrefix("a.pintle-test.yaml:\(place): ") && $0.contains(words) }
        #expect(isTold, "\(problems)")
    }

    @Test func `two tests of one name are refused`() {
        let test = "- {name: a, request: {url: \"http://a.test/\"}, expect: {decision: allow}}\n"
        #expect(self.problems(test + test).contains { $0.contains("2:3") && $0.contains("has this name, too") })
    }

    @Test func `a file may have several documents`() throws {
        let test = "- {name: NAME, request: {url: \"http://a.test/\"}, expect: {decision: allow}}\n"
        let stage = PolicyTestStage(
            tests: test.replacing("NAME", with: "one") + "---\n" + test.replacing("NAME", with: "two"))
        #expect(try stage.read().map(\.name) == ["one", "two"])
    }

    @Test func `the forms that the page of the admin endpoint copies can be read`() throws {
        let stage = PolicyTestStage(
            policy:
                "destinations: {deny: [\"*.ads.test\"]}\nroutes: [{name: api, match: {hosts: [a.test]}}, {name: up, match: {hosts: [\"localhost:8080\"]}, upstream: \"http://b.test/\"}]",
            tests: """
                - name: "GET x.ads.test:80 is denied"
                  request: {method: GET, url: "http://x.ads.test/", headers: {Accept: "*/*", X-Empty: ""}}
                  expect: {decision: deny, rule: "destinations.deny[0] \\"*.ads.test\\"", route: absent, problem: destination-denied}
                - name: "CONNECT a.test:443 is allowed"
                  request: {method: CONNECT, url: "https://a.test:443/"}
                  expect: {decision: allow, rule: "destinations.default", route: api}
                - name: "GET localhost:8080 is answered"
                  request: {method: GET, url: "/x", headers: {Host: "localhost:8080"}, json: {"amount":1}}
                  expect: {route: up}
                """)
        #expect(try stage.differences() == [])
    }

    @Test func `an empty file, a large file and deep nesting are refused`() {
        #expect(self.problems("") == ["a.pintle-test.yaml: the file has no test; a test begins with: - name: …"])
        let large = "# \(String(repeating: "x", count: 10 << 20))\n"
        #expect(self.problems(large) == ["a.pintle-test.yaml: the file a.pintle-test.yaml is over 4MiB"])
        let deep = "- name: a\n  request: {url: \"http://a.test/\", json: DEEP}\n  expect: {decision: allow}"
        let nested = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        #expect(self.problems(deep.replacing("DEEP", with: nested)).first?.contains("levels") == true)
    }

    @Test func `aliases that stand for millions of values are refused`() {
        var text = "- &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            text += "- &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ") + "]\n"
        }
        #expect(self.problems(text).first?.contains("too much structure") == true)
    }
}
