// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// YAML in, the whole text of every problem out.
struct StrictLoadingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let yaml: String
        let expected: [String]

        var testDescription: String { self.yaml }

        init(_ yaml: String, _ expected: String...) {
            self.yaml = yaml
            self.expected = expected
        }
    }

    @Test(arguments: [
        Case("", "pintle.yaml:1:1: the file is empty; it must at least say: version: 1"),
        Case("# nothing\n", "pintle.yaml:1:1: the file is empty; it must at least say: version: 1"),
        Case(
            "listen: []\nadmin: off",
            "pintle.yaml:1:1: the key \"version\" is missing; this is: version: 1",
            "pintle.yaml:1:9: listen: an empty list means nothing here; leave the key out or name something"),
        Case("version: 2", "pintle.yaml:1:10: version: \"2\": this version of Pintle reads version 1 only"),
        Case("- version: 1", "pintle.yaml:1:1: must be a map, not a list"),
        Case("version: 1\nversion: 1", "pintle.yaml:1:1: duplicate key \"version\", at 2:1 too"),
        Case("version: 1\nvia: a\n\"via\": b", "pintle.yaml:2:1: duplicate key \"via\", at 3:1 too"),
        Case("version: 1\nlisten: [\n", "pintle.yaml:3:1: not valid YAML: a value is due here"),
        Case(
            "version: 1\n\tvia: x",
            "pintle.yaml:2:1: not valid YAML: a tab stands where lines are indented; write spaces"),
        Case("version: 1\nvia: \u{1}", "pintle.yaml:2:6: not valid YAML: control characters are not allowed"),
        Case(
            "version: 1\n---\nversion: 1",
            "pintle.yaml:2:1: not valid YAML: a second document begins; there may be only one"),
        Case(
            "version: 1\nvia: *nobody",
            "pintle.yaml:2:6: not valid YAML: nothing has the name of this alias; put a text that begins with * in quotes"
        ),
    ])
    func `the frame of a file is checked`(example: Case) {
        #expect(problems(example.yaml) == example.expected)
    }

    private static let star =
        "not valid YAML: what begins with * is an alias; put a name with * in quotes, as in \"*.example.com\""
    private static let deep =
        "not valid YAML: the line is indented further than the one above it allows; begin it in the column of the key that "
        + "it belongs beside"
    private static let beside =
        "not valid YAML: the line begins in a column that no line above it has; begin it in the column of the one that it "
        + "belongs beside"
    private static let tab = "not valid YAML: a tab stands where lines are indented; write spaces"

    @Test(arguments: [
        Case("version: 1\nroutes:\n  - match: {hosts: [*.a.test]}", "pintle.yaml:3:21: \(star)"),
        Case("version: 1\nroutes:\n  - match: {hosts: *.a.test}", "pintle.yaml:3:20: \(star)"),
        Case("version: 1\nengine:\n\tthreads: 1", "pintle.yaml:3:1: \(tab)"),
        Case("version: 1\n  engine: {threads: 1}", "pintle.yaml:2:3: \(deep)"),
        Case("version: 1\nroutes:\n  - name: a\n      match: {}", "pintle.yaml:4:7: \(deep)"),
        Case("version: 1\nroutes:\n  - name: a\n   match: {}", "pintle.yaml:4:4: \(beside)"),
        Case("version: 1\nengine:\n  threads: 1\n via: x", "pintle.yaml:4:2: \(beside)"),
        Case(
            "version: 1\nvia: a: b",
            "pintle.yaml:2:7: not valid YAML: a second \": \" may not stand in a line; put the "
                + "value in quotes"),
        Case(
            "version: 1\nengine: {threads: 1, \"threads\": 2}",
            "pintle.yaml:2:10: duplicate key \"threads\", at 2:22 too"),
        Case(
            "version: 1\nvia: a\nengine:\n  threads: 1\n# via: b\nvia: c\n'via' : d",
            "pintle.yaml:2:1: duplicate key \"via\", at 6:1 and 7:1 too"),
        Case(
            "\u{FEFF}version: 1\nvia: a\nlisen: b", "pintle.yaml:3:1: unknown key \"lisen\"; did you mean \"listen\"?"),
    ])
    func `LOOK-108 the message names the slip and its place`(example: Case) {
        #expect(problems(example.yaml) == example.expected)
    }

    @Test(arguments: [
        Case("lisen: x", "pintle.yaml:2:1: unknown key \"lisen\"; did you mean \"listen\"?"),
        Case("cahce: {}", "pintle.yaml:2:1: unknown key \"cahce\"; did you mean \"cache\"?"),
        Case(
            "colour: red",
            "pintle.yaml:2:1: unknown key \"colour\"; the keys here are version, listen, admin, enforcement, via, "
                + "engine, log, limits, clients, destinations, activity, contract, trust, routes, tunnels, "
                + "upstream_proxy, listen_tls, unpinned_hosts, include, interception, cache, admin_hosts, tracing, "
                + "capture, tests, simulation, faults, recordings, isolate, credentials, ask, lists"),
        Case("unpined_hosts: deny", "pintle.yaml:2:1: unknown key \"unpined_hosts\"; did you mean \"unpinned_hosts\"?"),
        Case("<<: {}", "pintle.yaml:2:1: unknown key \"<<\": merge keys are not supported; repeat the lines"),
        Case("[a]: b", "pintle.yaml:2:1: a key must be text"),
        Case(
            "limits: {header-bytes: 1KiB}",
            "pintle.yaml:2:10: limits: unknown key \"header-bytes\"; did you mean \"header_bytes\"?"),
        Case(
            "routes: [{name: a, respones: {}}]",
            "pintle.yaml:2:20: routes[0]: unknown key \"respones\"; did you mean \"response\"?"),
        Case(
            "routes:\n  - name: a\n    cache: {plicy: off}",
            "pintle.yaml:4:12: routes[0].cache: the key \"policy\" is missing; protocol keeps to RFC 9111",
            "pintle.yaml:4:13: routes[0].cache: unknown key \"plicy\"; did you mean \"policy\"?"),
        Case("clients: {alow: []}", "pintle.yaml:2:11: clients: unknown key \"alow\"; did you mean \"allow\"?"),
    ])
    func `an unknown key is refused with the nearest`(example: Case) {
        #expect(problems("version: 1\n" + example.yaml) == example.expected)
    }

    @Test(arguments: [
        Case(
            "listen: 3128",
            "pintle.yaml:2:9: listen: \"3128\": not an address and a port, as in 127.0.0.1:3128 or [::1]:3128"),
        Case(
            "listen: [\"::1:3128\"]",
            "pintle.yaml:2:10: listen[0]: \"::1:3128\": an IPv6 address stands in brackets, as in [::1]:3128"),
        Case(
            "listen: localhost:3128",
            "pintle.yaml:2:9: listen: \"localhost:3128\": not an address and a port, as in 127.0.0.1:3128 or "
                + "[::1]:3128; names are not resolved here"),
        Case(
            "listen: 127.0.0.1:65536",
            "pintle.yaml:2:9: listen: \"127.0.0.1:65536\": a port is a number from 0 (any free one) to 65535"),
        Case("listen: [127.0.0.1:1, 127.0.0.1:1]", "pintle.yaml:2:23: listen[1]: 127.0.0.1:1 is listed twice"),
        Case("listen: {a: b}", "pintle.yaml:2:9: listen: must be a list, not a map"),
        Case(
            "admin: https://127.0.0.1:3129",
            "pintle.yaml:2:8: admin: \"https://127.0.0.1:3129\": the admin endpoint speaks plain HTTP; write "
                + "ADDRESS:PORT or unix:PATH"),
        Case("admin: 127.0.0.1:3128", "pintle.yaml:2:8: admin: 127.0.0.1:3128 is taken by listen, 127.0.0.1:3128"),
        Case(
            "admin_hosts: [\"a.example:1\"]",
            "pintle.yaml:2:15: admin_hosts[0]: \"a.example:1\": must be a host's name without a port"),
        Case(
            "enforcement: enforced",
            "pintle.yaml:2:14: enforcement: \"enforced\": must be enforce or report; did you mean enforce?"),
        Case(
            "unpinned_hosts: denied",
            "pintle.yaml:2:17: unpinned_hosts: \"denied\": must be allow, report or deny"),
        Case(
            "via: a b",
            "pintle.yaml:2:6: via: \"a b\": must be a pseudonym of letters, digits and -._ (a token), or off"),
        Case("engine: 3", "pintle.yaml:2:9: engine: must be a map, not \"3\""),
        Case(
            "engine: {threads: 65}",
            "pintle.yaml:2:19: engine.threads: \"65\": must be auto or a whole number from 1 to 64"),
        Case(
            "engine: {threads: 2, event_loops: 4}",
            "pintle.yaml:2:35: engine.event_loops: \"4\": each engine thread is an event loop in this version; write "
                + "auto or the same as engine.threads"),
        Case("engine: {http2: on}", "pintle.yaml:2:17: engine.http2: \"on\": must be auto or off"),
        Case(
            "engine: {idle_timeout: 55}",
            "pintle.yaml:2:24: engine.idle_timeout: \"55\": must be a duration: a whole number with a unit, as in "
                + "250ms, 10s, 5m, 1h or 2d"),
        Case(
            "engine: {idle_timeout: 0s, dns_cache: 99999999999999999d}",
            "pintle.yaml:2:24: engine.idle_timeout: \"0s\": must be from 1ms to 30d",
            "pintle.yaml:2:39: engine.dns_cache: \"99999999999999999d\": must be from 0s to 30d"),
        Case(
            "log: {level: verbose}",
            "pintle.yaml:2:14: log.level: \"verbose\": must be trace, debug, info, notice, warning, error or critical"),
        Case(
            "log: {redact: maybe}",
            "pintle.yaml:2:15: log.redact: \"maybe\": must be true or false (also on and off, yes and no)"),
        Case("log: {exchanges: \"\"}", "pintle.yaml:2:18: log.exchanges: must not be empty"),
        Case(
            "log: {exchanges: on}",
            "pintle.yaml:2:18: log.exchanges: \"on\": must be \"-\" for standard output, a path (./on for this name), or off"
        ),
        Case(
            "limits: {header_bytes: 64KB}",
            "pintle.yaml:2:24: limits.header_bytes: \"64KB\": must be a size: a whole number of bytes, or with a unit, "
                + "as in 64KiB, 8MiB or 1GiB"),
        Case(
            "limits: {header_bytes: 8KiB}",
            "pintle.yaml:2:24: limits.header_bytes: header_line (16KiB) is more than header_bytes (8KiB); a line cannot "
                + "be longer than its section"),
        Case(
            "limits: {held_bytes: 1MiB, body_buffer: 2MiB}",
            "pintle.yaml:2:41: limits.body_buffer: body_buffer (2MiB) is more than held_bytes (1MiB); one body cannot "
                + "take more than all of them"),
        Case(
            "limits: {connections: 10, connections_per_client: 20}",
            "pintle.yaml:2:51: limits.connections_per_client: 20 for one client is more than connections (10) for all"),
        Case(
            "limits: {connections: 0}",
            "pintle.yaml:2:23: limits.connections: \"0\": must be a whole number from 1 to 1000000"),
        Case("limits: {connections: [1]}", "pintle.yaml:2:23: limits.connections: must be text, not a list"),
        Case("limits: {connections: }", "pintle.yaml:2:23: limits.connections: has no value; text is missing"),
        Case(
            "clients: {allow: [10.0.0.1/8]}",
            "pintle.yaml:2:19: clients.allow[0]: \"10.0.0.1/8\": bits beyond the prefix are set; did you mean 10.0.0.0/8?"
        ),
        Case(
            "destinations: {deny: [\"a*.example\"], default: maybe}",
            "pintle.yaml:2:23: destinations.deny[0]: \"a*.example\": a star stands alone or for the first labels, as in "
                + "*.example.com; nowhere else",
            "pintle.yaml:2:47: destinations.default: \"maybe\": must be allow, deny or ask"),
        Case(
            "destinations: {connect_ports: all}",
            "pintle.yaml:2:31: destinations.connect_ports: \"all\": must be any, auto, or ports from 1 to 65535, as in "
                + "[443, 8443]"),
        Case(
            "destinations: {connect_ports: [443, 0]}",
            "pintle.yaml:2:37: destinations.connect_ports[1]: \"0\": must be a whole number from 1 to 65535"),
        Case(
            "destinations: {connect_ports: []}",
            "pintle.yaml:2:31: destinations.connect_ports: an empty list means nothing here; leave the key out or name "
                + "something"),
    ])
    func `a wrong value is refused with the right form`(example: Case) {
        #expect(problems("version: 1\n" + example.yaml) == example.expected)
    }

    @Test(arguments: [
        Case(
            "trust: {system: {}}",
            "pintle.yaml:2:9: trust.system: the name system is taken: it is what applies when no trust policy does"),
        Case("trust: {a b: {}}", "pintle.yaml:2:9: trust.a b: a name has 1 to 64 letters, digits and -._"),
        Case(
            "trust: {p: {pinning: public_key}}",
            "pintle.yaml:2:22: trust.p.pinning: public_key refuses every origin without pins or certificates; name at "
                + "least one"),
        Case(
            "trust: {p: {pinning: certificate, pins: [sha256/x]}}",
            "pintle.yaml:2:22: trust.p.pinning: certificate refuses every origin without certificates; name at least one",
            "pintle.yaml:2:41: trust.p.pins: pins are digests of public keys; with pinning: certificate give certificates"
        ),
        Case(
            "trust: {p: {pins: [sha256/x]}}",
            "pintle.yaml:2:19: trust.p.pins: is not looked at while pinning is none; set pinning: public_key or certificate"
        ),
        Case(
            "trust: {p: {allow_invalid_certificates: true}}",
            "pintle.yaml:2:41: trust.p.allow_invalid_certificates: without pinning nothing would be checked but a name "
                + "that anyone can write; pin a public_key or certificate, or set validates_domain_name: false as well"),
        Case(
            "trust: {a: {hosts: [x.example]}, b: {hosts: [y.example, X.example.]}}",
            "pintle.yaml:2:57: trust.b.hosts[1]: \"X.example.\" is in trust.a.hosts too; a host has one trust policy"),
        Case(
            "trust: {a: {hosts: [x.example, x.example]}}",
            "pintle.yaml:2:32: trust.a.hosts[1]: \"x.example\" is twice in this policy; a host has one trust policy"),
        Case(
            "trust: {a: {pinning: publickey}}",
            "pintle.yaml:2:22: trust.a.pinning: \"publickey\": must be none, public_key or certificate; did you mean "
                + "public_key?"),
        Case(
            "trust: {a: {client_certificate: {}}}",
            "pintle.yaml:2:33: trust.a.client_certificate: the key \"certificate\" is missing; name the file of the "
                + "certificate and its signers"),
        Case(
            "trust: {a: {min_tls: 1.4}}",
            "pintle.yaml:2:22: trust.a.min_tls: \"1.4\": must be 1.0, 1.1, 1.2 or 1.3; did you mean 1.0?"),
        Case(
            "trust: {a: {match: leaf}}",
            "pintle.yaml:2:20: trust.a.match: is about pins, and pinning is none; set pinning: public_key or certificate"
        ),
        Case(
            "trust: {a: {on_expiry: report}}",
            "pintle.yaml:2:24: trust.a.on_expiry: is about the end of the pins, which never comes without expires; set "
                + "expires as well"),
        Case(
            "trust: {a: {pinning: public_key, pins: [\"\(Pins.one)\"], expires: tomorrow}}",
            "pintle.yaml:2:106: trust.a.expires: \"tomorrow\": must be a date or a time, as in 2027-01-01 or "
                + "2027-01-01T12:00:00Z"),
        Case(
            "trust: {a: {allow_common_name: true, validates_domain_name: false}}",
            "pintle.yaml:2:32: trust.a.allow_common_name: is not looked at while validates_domain_name is false; remove "
                + "one of them"),
    ])
    func `a trust policy that contradicts itself is refused`(example: Case) {
        #expect(problems("version: 1\n" + example.yaml) == example.expected)
    }

    @Test(arguments: [
        Case(
            "- {name: a, upstream: \"http://a\", trust: payments}",
            "pintle.yaml:3:42: routes[0].trust: holds for https, and the upstream is http: nothing would be verified; "
                + "use an https upstream"),
        Case("- {}", "pintle.yaml:3:3: routes[0]: the key \"name\" is missing; logs and metrics call the route by it"),
        Case(
            "- {name: a}\n- {name: a}",
            "pintle.yaml:4:10: routes[1].name: \"a\" is the name of the route at line 3 too"),
        Case(
            "- {name: a, trust: paymens}",
            "pintle.yaml:3:20: routes[0].trust: \"paymens\": there is no such trust policy; did you mean \"payments\"?"),
        Case(
            "- {name: a, trust: x}",
            "pintle.yaml:3:20: routes[0].trust: \"x\": there is no such trust policy; define it under trust"),
        Case(
            "- {name: a, upstream: \"https://a/?x\"}",
            "pintle.yaml:3:23: routes[0].upstream: \"https://a/?x\": an upstream has no query; use request.parameters"),
        Case(
            "- {name: a, strip_prefix: /x}",
            "pintle.yaml:3:27: routes[0].strip_prefix: needs an upstream: without one requests go where they were "
                + "aimed, path and all"),
        Case(
            "- {name: a, upstream: \"https://a\", strip_prefix: x}",
            "pintle.yaml:3:50: routes[0].strip_prefix: \"x\": must begin with /"),
        Case(
            "- {name: a, upstream: \"https://a\", strip_prefix: /}",
            "pintle.yaml:3:50: routes[0].strip_prefix: \"/\": strips nothing; leave the key out"),
        Case(
            "- {name: a, match: {methods: [get, \"G T\"], schemes: [ftp], paths: [v1]}}",
            "pintle.yaml:3:31: routes[0].match.methods[0]: \"get\": method names have letter case; did you mean GET?",
            "pintle.yaml:3:36: routes[0].match.methods[1]: \"G T\": not a method name, as in GET",
            "pintle.yaml:3:54: routes[0].match.schemes[0]: \"ftp\": must be http or https",
            "pintle.yaml:3:68: routes[0].match.paths[0]: \"v1\": a path pattern begins with /"),
        Case(
            "- {name: a, match: {hosts: []}}",
            "pintle.yaml:3:28: routes[0].match.hosts: an empty list means nothing here; leave the key out or name something"
        ),
        Case(
            "- {name: a, request: {parameters: {a: 1}}}",
            "pintle.yaml:3:35: routes[0].request.parameters: are not sent while serialize is none; set serialize: http, "
                + "json, plist or multipart"),
        Case(
            "- {name: a, response: {remove_nulls: true}}",
            "pintle.yaml:3:38: routes[0].response.remove_nulls: needs body: json; nothing else has nulls to remove"),
        Case(
            "- {name: a, response: {status: [99, 300-200, 6xx], content_types: [\"text/*\", \"text/plain; q=1\"]}}",
            "pintle.yaml:3:33: routes[0].response.status[0]: \"99\": must be a status or a range from 100 to 599, as in "
                + "304, 200-299 or 2xx",
            "pintle.yaml:3:37: routes[0].response.status[1]: \"300-200\": must be a status or a range from 100 to 599, "
                + "as in 304, 200-299 or 2xx",
            "pintle.yaml:3:46: routes[0].response.status[2]: \"6xx\": must be a status or a range from 100 to 599, as "
                + "in 304, 200-299 or 2xx",
            "pintle.yaml:3:68: routes[0].response.content_types[0]: \"text/*\": must be one media type, as in "
                + "application/json; there are no wildcards",
            "pintle.yaml:3:78: routes[0].response.content_types[1]: \"text/plain; q=1\": a media type without "
                + "parameters, as in application/json"),
    ])
    func `a route that contradicts itself is refused`(example: Case) {
        let trust = "\ntrust: {payments: {}}"
        #expect(problems("version: 1\nroutes:\n" + example.yaml + trust) == example.expected)
    }

    @Test(arguments: [
        Case(
            "set: {Host: a}",
            "set.Host: Host follows the request's target and cannot be changed here; set an upstream"),
        Case(
            "add: {content-length: 1}",
            "add.content-length: frames the message; Pintle writes it anew for every message"),
        Case(
            "default: {Transfer-Encoding: chunked}",
            "default.Transfer-Encoding: frames the message; Pintle writes it anew for every message"),
        Case(
            "set: {Connection: close}",
            "set.Connection: belongs to one connection (hop-by-hop) and is never forwarded"),
        Case(
            "set: {Proxy-Authorization: x}",
            "set.Proxy-Authorization: belongs to one connection (hop-by-hop) and is never forwarded"),
        Case("set: {Via: x}", "set.Via: is kept by Pintle itself as it forwards"),
        Case("set: {\"X A\": x}", "set.X A: not a field name"),
        Case(
            "set: {X-A: \"a\\r\\nX-B: b\"}",
            "set.X-A: \"a\\r\\nX-B: b\": a field value has no control characters and no spaces at its ends"),
        Case("set: {X-A: 1, x-a: 2}", "set.x-a: the field is named twice; field names have no letter case"),
        Case("set: {X-A: [1]}", "set.X-A: must be text, not a list"),
        Case(
            "remove: [Host]",
            "remove[0]: \"Host\": Host follows the request's target and cannot be changed here; set an upstream"),
    ])
    func `fields that are not for injection are refused`(example: Case) {
        let yaml = "version: 1\nroutes: [{name: a, request: {headers: {" + example.yaml + "}}}]"
        let found = problems(yaml).map { $0.drop { $0 != "r" }.dropFirst("routes[0].request.headers.".count) }
        #expect(found.map(String.init) == example.expected)
    }

    @Test func `everything that is wrong is reported at once, in the order of the file`() {
        let found = problems(
            """
            version: 1
            vai: x
            limits:
              header_timeout: soon
            routes:
              - name: a
                trust: b
            """)
        #expect(
            found == [
                "pintle.yaml:2:1: unknown key \"vai\"; did you mean \"via\"?",
                "pintle.yaml:4:19: limits.header_timeout: \"soon\": must be a duration: a whole number with a unit, as "
                    + "in 250ms, 10s, 5m, 1h or 2d",
                "pintle.yaml:7:12: routes[0].trust: \"b\": there is no such trust policy; define it under trust",
            ])
    }
}
