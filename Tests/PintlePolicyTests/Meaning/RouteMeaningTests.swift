// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintlePolicy

/// Routes without their spelling.
@Suite struct RouteMeaningTests {
    private static func meaning(_ keys: String) throws -> RouteMeaning {
        let surroundings = LoaderEnvironment.system(environment: [:])
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\nroutes: [{name: r, \(keys)}]\n".utf8),
            file: "p.yaml",
            surroundings: surroundings)
        return try #require(PolicyMeaning(policy, surroundings: surroundings).routes.first)
    }

    @Test(arguments: [
        ("request: {headers: {remove: [A, b]}}", "request: {headers: {remove: [B, a]}}"),
        ("response: {status: [200, 201]}", "response: {status: [\"200-201\"]}"),
        ("response: {content_types: [text/html, text/plain]}", "response: {content_types: [text/plain, text/html]}"),
        (
            "request: {serialize: http, uri_methods: [GET, HEAD]}",
            "request: {serialize: http, uri_methods: [HEAD, GET]}"
        ),
    ])
    func `another spelling is the same`(texts: (String, String)) throws {
        #expect(try Self.meaning(texts.0) == Self.meaning(texts.1))
    }

    @Test(arguments: [
        "request: {headers: {set: {A: b}}}", "request: {timeout: 5s}", "request: {cookies: jar}",
        "request: {cookies: block}",
        "allow_cleartext_credentials: true, request: {authorization: {bearer: x}}",
        "request: {throttle: {delay: 1s}}", "request: {service_type: voice}",
        "request: {serialize: json}", "request: {serialize: json, parameters: {a: 1}}", "upstream: \"http://a/\"",
        "upstream: \"http://a/\", strip_prefix: /a", "response: {status: [200]}", "response: {body: json}",
        "response: {max_body: 5}", "response: {on_violation: report, status: [200]}",
        "response: {headers: {set: {A: b}}}",
        "redirects: follow", "cache: {policy: protocol}", "coalesce: {max_active: 2}", "request: {interface: lo}",
        "request: {retries: {attempts: 3}}", "request: {connect_timeout: 1s}",
        "request: {forwarded: rfc7239}", "respond: {status: 204}", "cors: {origins: \"*\"}",
    ])
    func `each rule counts`(rule: String) throws {
        #expect(try Self.meaning(rule) != Self.meaning("match: {}"))
        #expect(try Self.meaning(rule) == Self.meaning(rule))
    }
}
