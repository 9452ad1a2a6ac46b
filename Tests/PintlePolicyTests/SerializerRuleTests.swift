// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleSerialization
import Testing

/// The sections of a configuration on serializers, bodies and contracts.
struct SerializerRuleTests {
    private func route(_ text: String) throws -> RouteConfiguration {
        try #require(try load("version: 1\nroutes:\n  - {name: a, \(text)}").routes.first)
    }

    /// Returns the errors of reading and compiling.
    private func problems(_ yaml: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try PolicyLoader.policy(
                yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: surroundings(files: ["/f": "x"]))
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `request keys are read`() throws {
        let request = try self.route(
            """
            request: {serialize: multipart, string_encoding: Shift_JIS, json: {sorted_keys: on, pretty: true},
            plist: {format: binary}, throttle: {packet: 4KiB}, uri_methods: [GET]}
            """
        ).request
        #expect(request.serialize == .multipart)
        #expect(request.stringEncoding.name == "shift_jis")
        #expect(request.json == [.sortedKeys, .pretty])
        #expect(request.plist == .binary)
        #expect(request.throttle?.packet == 4096 && request.throttle?.delay == .milliseconds(200))
    }

    @Test func `authorization is a value that is ready`() throws {
        let basic = "allow_cleartext_credentials: true, request: {authorization: {basic: {username: ü, password: p}}}"
        #expect(try self.route(basic).request.authorization?.value == "Basic w7w6cA==")
        let bearer = "match: {schemes: [https]}, request: {authorization: {bearer: a.b-c==}}"
        #expect(try self.route(bearer).request.authorization?.value == "Bearer a.b-c==")
    }

    @Test func `response keys are read`() throws {
        let response = try self.route(
            """
            response: {body: [{json: {fragments: true}}, plist, {image: {max_pixels: 10}}], structured_suffixes: yes,
            max_body: 1MiB, remove_nulls: true, headers: {remove: [Server], set: {X-A: 1}}}
            """
        ).response
        var (json, image) = (ResponseRules.JSONRules(), ResponseRules.ImageRules())
        json.fragments = true
        image.pixels = 10
        #expect(response.body == .compound([.json(json), .plist, .image(image)]))
        #expect(response.structuredSuffixes && response.removeNulls && response.maxBody == 1 << 20)
        #expect(response.headers.remove == ["Server"] && response.headers.set.map(\.name) == ["X-A"])
    }

    /// The example of the contract of this product, with all keys of the two maps.
    @Test func `what does nothing beside another serializer is only pointed out`() throws {
        let yaml = """
            routes:
              - name: charge
                request:
                  parameters: {source: pintle}
                  serialize: json
                  uri_methods: [GET, HEAD, DELETE]
                  string_encoding: utf-8
                  json: {sorted_keys: false, pretty: false}
                  plist: {format: xml}
                response: {status: ["200-299", 304], content_types: [application/json], body: json, on_violation: reject}
              - {name: form, match: {hosts: [a.test]}, request: {serialize: http, json: {pretty: true}}}
              - {name: plist, match: {hosts: [b.test]}, request: {serialize: plist, plist: {format: binary}}}
            """
        let warnings = Lint(try policy(yaml)).findings.filter {
            $0.severity == .warning && !$0.message.contains("never used")
        }
        #expect(
            warnings.map { "\($0.position): \($0.path): \($0.message)" } == [
                "10:14: routes[0].request.plist: does nothing beside serialize: json",
                "12:77: routes[1].request.json: does nothing beside serialize: http",
            ])
    }

    @Test(arguments: [
        "response: {max_body: 1, on_violation: report}", "contract: api.json, response: {on_violation: report}",
        "response: {content_types: [text/xml], structured_suffixes: true}",
        "response: {body: [image, xml], structured_suffixes: true}", "response: {structured_suffixes: false}",
        "response: {on_violation: report}}]\ncontract: api.json #",
    ])
    func `what does something is taken`(text: String) throws {
        let api = #"{"openapi":"3.1.0","paths":{},"servers":[{"url":"http://a.test"}]}"#
        do throws(ConfigurationError) {
            _ = try PolicyLoader.policy(
                yaml: Array("version: 1\nroutes: [{name: a, \(text)}]".utf8), file: "pintle.yaml",
                surroundings: surroundings(files: ["api.json": api]))
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test(arguments: [
        ("request: {string_encoding: klingon}", "is no character encoding of this system"),
        ("request: {authorization: {}}", "has no value; give basic: {username, password} or bearer: a token"),
        (
            "request: {authorization: {bearer: a, basic: {username: u, password: p}}}",
            "is either basic or bearer; a request has one Authorization"
        ),
        ("request: {authorization: {basic: {username: u}}}", "the key \"password\" is missing"),
        ("request: {authorization: {basic: {username: \"a:b\", password: p}}}", "may not have a colon"),
        ("request: {authorization: {bearer: \"s p a c e\"}}", "a bearer token has letters, digits and -._~+/"),
        ("request: {authorization: {bearer: x}}", "a credential would go upstream in clear text with http requests"),
        ("request: {throttle: {packet: 0}}", "must be from 1 to 1GiB"),
        ("request: {throttle: {delay: 0s}}", "must be from 1ms to 1m"),
        ("request: {plist: {format: json}}", "must be xml or binary"),
        ("request: {serialize: yaml}", "must be none, http, json, plist or multipart"),
        ("response: {body: yaml}", "must be any, json, xml, plist or image"),
        ("response: {body: [any, json]}", "any takes every body, so the others would never be asked; leave it out"),
        ("response: {body: {json: {}, image: {}}}", "has 2 rules; a list has several"),
        ("response: {body: {json: {schema: nowhere.json}}}", "there is no file nowhere.json"),
        ("response: {body: xml, remove_nulls: true}", "needs body: json; nothing else has nulls to remove"),
        ("response: {structured_suffixes: true}", "needs content_types or a body rule"),
        ("response: {on_violation: placeholder}", "placeholder needs placeholder: {file: …}"),
        ("response: {placeholder: {file: /f, failures: off}}", "is never sent; name failures, or set on_violation"),
        ("response: {placeholder: {file: /f, failures: [dns]}}", "must be dns-failure, connect-failure"),
        (
            "response: {on_violation: placeholder, placeholder: {file: /nowhere}}", "there is no file /nowhere"
        ),
        (
            "response: {on_violation: placeholder, placeholder: {file: /f, status: 204}}",
            "a response with this status has no content"
        ),
        ("response: {headers: {set: {Content-Length: 1}}}", "frames the message"),
        ("response: {headers: {default: {A: b}}}", "unknown key \"default\""),
        (
            "request: {uri_methods: [GET]}",
            "request.uri_methods: does nothing while serialize is none; set serialize: http, json, plist or multipart"
        ),
        (
            "request: {serialize: none, string_encoding: latin1}",
            "request.string_encoding: does nothing while serialize is none"
        ),
        ("request: {json: {pretty: true}}", "request.json: does nothing while serialize is none; set serialize: json"),
        (
            "request: {plist: {format: xml}}",
            "request.plist: does nothing while serialize is none; set serialize: plist"
        ),
        (
            "response: {body: image, structured_suffixes: true}",
            "structured_suffixes: needs application/json, application/xml or text/xml among the types"
        ),
        (
            "response: {body: json, content_types: [application/problem+json], structured_suffixes: true}",
            "structured_suffixes: needs application/json"
        ),
        (
            "response: {on_violation: report}",
            "on_violation: nothing is demanded of the responses that could be violated"
        ),
        (
            "response: {on_violation: placeholder, placeholder: {file: /f}, headers: {remove: [A]}}",
            "on_violation: nothing is demanded of the responses"
        ),
        ("contract: {requests: true}", "the key \"file\" is missing; a contract is an OpenAPI document"),
        ("contract: nowhere.yaml", "there is no file nowhere.yaml"),
    ])
    func `what cannot be is refused`(text: String, message: String) {
        let found = self.problems("version: 1\nroutes:\n  - {name: a, \(text)}")
        #expect(found.contains { $0.contains(message) }, "\(found)")
        #expect(!found.contains { $0.contains("s p a c e") }, "a secret is not repeated")
    }
}
