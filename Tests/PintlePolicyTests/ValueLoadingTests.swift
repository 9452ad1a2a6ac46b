// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

struct ValueLoadingTests {
    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("10s", .seconds(10)), ("5m", .seconds(300)), ("1h", .seconds(3600)),
        ("2d", .seconds(172_800)),
    ])
    func `durations have units`(text: String, expected: Duration) throws {
        let configuration = try load("version: 1\nlimits: {tunnel_idle_timeout: \(text)}")
        #expect(configuration.limits.tunnelIdleTimeout == expected)
        #expect(expected.spelled == text)
    }

    @Test(arguments: [("1000", 1000), ("4096B", 4096), ("64KiB", 65_536), ("8MiB", 8_388_608), ("1GiB", 1_073_741_824)])
    func `sizes may have units`(text: String, expected: Int) throws {
        #expect(try load("version: 1\nlimits: {body_buffer: \(text)}").limits.bodyBuffer == expected)
    }

    @Test(arguments: ["on", "On", "ON", "true", "True", "TRUE", "yes", "Yes", "\"on\""])
    func `booleans have the spellings of YAML 1_1`(text: String) throws {
        #expect(try load("version: 1\nlog: {redact: \(text)}").log.redact)
    }

    @Test(arguments: ["off", "Off", "OFF", "false", "no", "No", "\"off\""])
    func `off is off however YAML reads it`(text: String) throws {
        let configuration = try load(
            "version: 1\nadmin: \(text)\nvia: \(text)\nengine: {http2: \(text)}\nlog: {redact: \(text), exchanges: \(text)}"
        )
        #expect(configuration.via == nil)
        #expect(configuration.engine.http2 == .off)
        #expect(configuration.log.exchanges == .off)
        #expect(!configuration.log.redact)
    }

    @Test(arguments: ["on", "On", "ON", "true", "True", "TRUE", "yes", "Yes", "YES", "\"on\""])
    func `the exchange log is not a file with the name of a boolean by accident`(text: String) throws {
        #expect(throws: ConfigurationError.self) { try load("version: 1\nlog: {exchanges: \(text)}") }
        let name = text.filter { $0 != "\"" }
        let configuration = try load("version: 1\nlog: {exchanges: ./\(name)}")
        guard case .file(let path) = configuration.log.exchanges else { return #expect(Bool(false)) }
        #expect(path.hasSuffix(name))
    }

    @Test func `field values keep their spelling`() throws {
        let configuration = try load(
            "version: 1\nroutes: [{name: a, request: {headers: {add: {A: on, B: 010, C: 1.50, D: ~x, E: \"\", F: 0x1F}}}}]"
        )
        let lines = try #require(configuration.routes.first).request.headers.add
        #expect(lines.map(\.name) == ["A", "B", "C", "D", "E", "F"])
        #expect(lines.map(\.value) == ["on", "010", "1.50", "~x", "", "0x1F"])
    }

    @Test func `parameters have the types of JSON and the order of the file`() throws {
        let configuration = try load(
            """
            version: 1
            routes:
              - name: a
                request:
                  serialize: json
                  parameters: {z: pintle, n: 10, q: "10", f: 1.5, b: true, o: on, e: ~, l: [a, -1, 007], m: {k: v}}
            """)
        #expect(
            try #require(configuration.routes.first).request.parameters == [
                NamedParameter(name: "z", value: .string("pintle")), NamedParameter(name: "n", value: .integer(10)),
                NamedParameter(name: "q", value: .string("10")), NamedParameter(name: "f", value: .double(1.5)),
                NamedParameter(name: "b", value: .bool(true)), NamedParameter(name: "o", value: .string("on")),
                NamedParameter(name: "e", value: .null),
                NamedParameter(name: "l", value: .list([.string("a"), .integer(-1), .string("007")])),
                NamedParameter(name: "m", value: .map([NamedParameter(name: "k", value: .string("v"))])),
            ])
    }

    @Test func `one value may stand for a list of one`() throws {
        let configuration = try load(
            "version: 1\nlisten: \"[::1]:0\"\nroutes: [{name: a, match: {methods: PUT}, response: {status: 2xx}}]")
        #expect(configuration.listen.map(\.description) == ["[::1]:0"])
        let route = try #require(configuration.routes.first)
        #expect(route.match.methods == ["PUT"])
        #expect(route.response.status == [200...299])
    }

    @Test func `sections without a value say nothing`() throws {
        #expect(try load("version: 1\nengine:\nlog: ~\nlimits: null\ntrust:\nroutes:\n") == Configuration())
    }

    @Test func `text may come from the environment or a file beside the configuration`() throws {
        let surroundings = surroundings(
            environment: ["TOKEN": "Bearer abc"],
            files: ["/etc/pintle/secret.txt": "s3cret\r\n", "/run/other": "on\n"])
        let yaml = """
            version: 1
            log: {redact: "file:/run/other"}
            routes:
              - name: a
                match: {schemes: https}
                request: {headers: {set: {Authorization: "env:TOKEN", X-Key: file:secret.txt}}}
            """
        let configuration = try PolicyLoader.configuration(
            yaml: Array(yaml.utf8), file: "/etc/pintle/pintle.yaml", surroundings: surroundings)
        #expect(try #require(configuration.routes.first).request.headers.set.map(\.value) == ["Bearer abc", "s3cret"])
        #expect(configuration.log.redact)
    }

    @Test(arguments: [
        ("cache: {path: \"/a\\0b\"}", "2:15: cache.path"), ("log: {exchanges: \"/a\\0b\"}", "2:18: log.exchanges"),
        ("recordings: {path: \"/a\\0b\"}", "2:20: recordings.path"), ("via: \"file:/a\\0b\"", "2:6: via"),
        ("include: [\"/a\\0b\"]", "2:11: include[0]"),
    ])
    func `a path with a zero byte is refused, at its place`(yaml: String, place: String) {
        let found = problems("version: 1\n" + yaml, surroundings(files: ["/a": "other", "/a\0b": "this"]))
        #expect(
            found.contains { $0.hasPrefix("pintle.yaml:\(place): a path has no zero byte, as \"/a") }, "\(found)")
    }

    @Test func `a missing variable or file is an error, and a secret is never in one`() {
        let surroundings = surroundings(
            environment: ["BAD": "se\ncret"], files: ["big": String(repeating: "a", count: 70_000)])
        let yaml = """
            version: 1
            routes:
              - name: a
                request: {headers: {set: {A: env:NONE, B: file:none.txt, C: env:BAD, D: file:big}}}
            """
        #expect(
            problems(yaml, surroundings) == [
                "pintle.yaml:4:34: routes[0].request.headers.set.A: \"env:NONE\": there is no environment variable NONE",
                "pintle.yaml:4:47: routes[0].request.headers.set.B: \"file:none.txt\": there is no file none.txt",
                "pintle.yaml:4:65: routes[0].request.headers.set.C: \"env:BAD\": a field value has no control "
                    + "characters and no spaces at its ends",
                "pintle.yaml:4:77: routes[0].request.headers.set.D: \"file:big\": the file big is over 64KiB",
            ])
    }

    @Test(arguments: [
        (
            "upstream: \"http://a.example\"",
            "a credential would go to an http upstream in clear text; use https, or say "
                + "allow_cleartext_credentials: true"
        ),
        (
            "match: {hosts: a.example}",
            "a credential would go upstream in clear text with http requests; match schemes: "
                + "[https] only, give an https upstream, or say allow_cleartext_credentials: true"
        ),
    ])
    func `credentials are not injected into clear text`(route: String, reason: String) {
        for list in ["default", "set", "add"] {
            let rules = "request: {headers: {\(list): {authorization: Basic eA==}}}"
            let yaml = "version: 1\nroutes:\n- name: a\n  \(route)\n  \(rules)"
            let place = "pintle.yaml:5:\(26 + list.count): routes[0].request.headers.\(list).authorization: "
            #expect(problems(yaml) == [place + reason])
            #expect(problems(yaml + "\n  allow_cleartext_credentials: true").isEmpty)
        }
    }

    @Test(arguments: ["upstream: \"https://a.example\"", "match: {schemes: [https]}"])
    func `credentials may be injected into https`(route: String) {
        let yaml = "version: 1\nroutes:\n- name: a\n  \(route)\n  request: {headers: {set: {Authorization: x}}}"
        #expect(problems(yaml).isEmpty)
    }
}
