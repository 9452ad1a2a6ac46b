// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintlePolicy
import Testing

/// The requests to which an OpenAPI document applies.
struct ContractTests {
    private static let pets = """
        openapi: 3.1.0
        info: {title: pets, version: "1"}
        servers: [{url: "https://api.example/v1"}]
        paths:
          /pets/{id}: {get: {responses: {200: {description: one}}}}
        """

    /// The document with other servers, and more paths.
    private static func pets(servers: String, paths: String = "") -> String {
        Self.pets.replacingOccurrences(of: "[{url: \"https://api.example/v1\"}]", with: servers) + "\n" + paths
    }

    private func policy(_ yaml: String, _ document: String = Self.pets) throws(ConfigurationError) -> Policy {
        try PolicyLoader.policy(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml",
            surroundings: surroundings(files: ["api.yaml": document]))
    }

    /// The operation of a request, or the reason why it is none; nil if no contract applies to it.
    private func operation(_ url: String, in policy: Policy) throws -> String? {
        let decision = try policy.decide(try query("GET", url))
        guard let contract = policy.apiContract(for: decision) else { return nil }
        do throws(Malformed) {
            return try contract.operation(method: "GET", path: decision.path).name
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [
        ("/v1/pets/7", "GET /pets/{id}"), ("/v1/pets/..", "the contract has no path for /v1/"),
        ("/v1/pets/%2e%2E", "the contract has no path for /v1/"),
        ("/v1/pets/.", "the contract has no path for /v1/pets/"),
        ("/v1/x/../pets/7?to=/..", "GET /pets/{id}"), ("/v1/pets/x%2f..", "GET /pets/{id}"),
        ("/v1/pets/a..", "GET /pets/{id}"), ("/v%31/pets/7", "GET /pets/{id}"),
        ("/v1%2Fpets/7", "GET /pets/{id}"),
    ])
    func `a contract is asked about the path that the origin reads`(path: String, operation: String) throws {
        let policy = try self.policy("routes: [{name: a, contract: api.yaml}]")
        let found = try self.operation("https://pets.test" + path, in: policy)
        #expect(found == operation)
    }

    @Test(arguments: [
        ("https://prod.example.com/v1/pets/7", true), ("https://stage.example.com/v1/pets/7", true),
        ("https://api.example.com/v1/pets/7", true), ("https://test.example.com/v1/pets/7", false),
        ("https://toys.example.com/toys", true), ("https://new.example.com/toys", true),
    ])
    func `a contract for everything is about every server that it names`(url: String, isCovered: Bool) throws {
        let document = Self.pets(
            servers: """
                [{url: "https://{env}.example.com/v1", variables: {env: {default: prod, enum: [prod, stage]}}},
                {url: "https://api.example.com/v1"}]
                """.replacingOccurrences(of: "\n", with: " "),
            paths: """
                  /toys:
                    servers: [{url: "https://toys.example.com"}]
                    get: {responses: {200: {description: all}}}
                    put: {servers: [{url: "https://new.example.com"}], responses: {200: {description: made}}}
                """)
        let policy = try self.policy("contract: api.yaml", document)
        #expect((try self.operation(url, in: policy) != nil) == isCovered)
    }

    @Test(arguments: [
        ("[{url: \"https://{env}.example/\"}]", "api.yaml#/servers/0/url: “https://{env}.example/” is no server's URL"),
        ("[{url: /v1}, {url: \"//a.example/\"}]", "api.yaml#/servers/1/url: “//a.example/” is no server's URL"),
        ("[{url: \"ftp://a.example/\"}]", "api.yaml#/servers/0/url: “ftp://a.example/” is no server's URL"),
        (
            "[{url: /v1}]",
            "api.yaml#/servers: a contract at the top level is about the servers that it names with a host"
        ),
    ])
    func `a contract for everything must say where its servers are`(servers: String, message: String) throws {
        do throws(ConfigurationError) {
            _ = try self.policy("contract: api.yaml", Self.pets(servers: servers))
            Issue.record("it loads")
        } catch {
            #expect(error.problems.map(\.message).contains { $0.contains(message) }, "\(error)")
        }
        _ = try self.policy("routes: [{name: a, contract: api.yaml}]", Self.pets(servers: servers))
    }

    /// Compiled for each route, the documents would take an hour.
    @Test(.timeLimit(.minutes(15))) func `a document that many routes name is compiled once`() throws {
        let members = (0..<2000).map { "\"p\($0)\": {\"type\": \"string\"}" }.joined(separator: ", ")
        let paths = (0..<500).map { "  /p\($0): {get: {responses: {200: {description: one}}}}\n" }.joined()
        let routes = (0..<20_000).map { number in
            number % 2 == 0
                ? "{name: r\(number), response: {body: {json: {schema: s.json}}}}"
                : "{name: r\(number), contract: api.yaml}"
        }
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\nroutes: [\(routes.joined(separator: ", "))]".utf8), file: "pintle.yaml",
            surroundings: surroundings(
                files: ["s.json": "{\"properties\": {\(members)}}", "api.yaml": Self.pets + "\n" + paths]))
        #expect(policy.routes.routes.count == 20_000)
    }
}
