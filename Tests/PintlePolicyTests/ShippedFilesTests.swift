// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintlePolicy
import Testing

struct ShippedFilesTests {
    private static let system = Surroundings.system(environment: [:])

    @Test func `the documented default is the embedded default`() throws {
        let path = Repository.path("conf/pintle.yaml")
        #expect(try PolicyLoader.configuration(path: path, surroundings: Self.system) == Configuration())
    }

    @Test(arguments: ["dev-gateway.yaml", "pinned-api.yaml", "api-contract.yaml"])
    func `the examples load without a warning`(name: String) throws {
        let path = Repository.path("conf/examples/" + name)
        let (policy, origin) = try PolicyLoader.load(flag: path, surroundings: Self.system)
        #expect(origin == .flag(path))
        let warnings = Lint(policy).findings.filter { $0.severity == .warning }
        #expect(warnings.allSatisfy { $0.message.hasPrefix("only reports") }, "\(warnings)")
    }

    @Test(arguments: [
        ("GET", "http://localhost:8080/api/users?id=1", "api", "http://127.0.0.1:9001/users?id=1"),
        ("GET", "http://localhost:8080/assets/app.js", "assets", "http://127.0.0.1:9002/dist/assets/app.js"),
        ("POST", "http://localhost:8080/assets/app.js", "pages", "http://127.0.0.1:9000/assets/app.js"),
        ("GET", "http://localhost:8080/", "pages", "http://127.0.0.1:9000/"),
    ])
    func `the gateway example sends requests where it says`(
        method: String, url: String, route: String, target: String
    ) throws {
        let path = Repository.path("conf/examples/dev-gateway.yaml")
        let (policy, _) = try PolicyLoader.load(flag: path, surroundings: Self.system)
        let decision = try policy.decide(try query(method, url, form: .gateway))
        #expect(decision.route?.name == route)
        #expect("\(decision.scheme)://\(decision.authority)\(decision.path)" == target)
        #expect(decision.destination == .allowed(by: "destinations.allow[0] \"127.0.0.0/8\""))
    }

    @Test(arguments: KeySet.all)
    func `the schema lists the keys that the loader reads`(keys: KeySet) throws {
        let data = Data(try Repository.bytes("conf/pintle.schema.json"))
        let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let definitions = try #require(schema["$defs"] as? [String: Any])
        let start: [String: Any]
        let steps: [Substring]
        if keys.path.hasPrefix("routes[]") {
            start = try #require(definitions["route"] as? [String: Any])
            steps = keys.path.split(separator: ".").dropFirst().map { $0 }
        } else if keys.path.hasPrefix("trust.NAME") {
            start = try #require(definitions["trust"] as? [String: Any])
            steps = keys.path.split(separator: ".").dropFirst(2).map { $0 }
        } else {
            start = schema
            steps = keys.path.split(separator: ".")
        }
        let node = try steps.reduce(start) { node, step in
            let properties = try #require(node["properties"] as? [String: Any])
            return try #require(properties[String(step)] as? [String: Any])
        }
        let properties = try #require(node["properties"] as? [String: Any])
        #expect(properties.keys.sorted() == keys.known.sorted())
        #expect(node["additionalProperties"] as? Bool == false)
    }

    @Test(arguments: KeySet.all)
    func `the reference names every key`(keys: KeySet) throws {
        let text = String(decoding: try Repository.bytes("docs/configuration.md"), as: UTF8.self)
        for key in keys.known { #expect(text.contains("`\(key)`"), "\(keys.path) \(key)") }
    }
}
