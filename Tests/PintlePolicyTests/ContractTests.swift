// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// Which requests an OpenAPI document is about.
struct ContractTests {
    private static let pets = """
        openapi: 3.1.0
        info: {title: pets, version: "1"}
        servers: [{url: "https://api.example/v1"}]
        paths:
          /pets/{id}: {get: {responses: {200: {description: one}}}}
        """

    private func policy(_ yaml: String, _ document: String = Self.pets) throws(ConfigurationError) -> Policy {
        try PolicyLoader.policy(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml",
            surroundings: surroundings(files: ["api.yaml": document]))
    }

    /// The operation that a request is, or why it is none; nil where no contract is about it.
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
        ("/v1/x/../pets/7?to=/..", "GET /pets/{id}"), ("/v1/pets/x%2f..", "the contract has no path for /v1/pets/"),
        ("/v1/pets/a..", "GET /pets/{id}"), ("/v%31/pets/7", "GET /pets/{id}"),
        ("/v1%2Fpets/7", "the contract has no path for /v1%2Fpets/7"),
    ])
    func `a contract is asked about the path that the origin reads`(path: String, operation: String) throws {
        let policy = try self.policy("routes: [{name: a, contract: api.yaml}]")
        #expect(try self.operation("https://pets.test" + path, in: policy) == operation)
    }
}
