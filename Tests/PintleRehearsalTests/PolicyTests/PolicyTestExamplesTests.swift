// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleRehearsal
import PintleSchema
import PintleSerialization
import Testing

/// The tests beside the examples, and the JSON Schema for editors.
struct PolicyTestExamplesTests {
    private static let system = LoaderEnvironment.system(environment: [:])
    private static let examples = ["api-contract", "dev-gateway", "pinned-api", "rehearsal", "teams"]

    private static func path(_ relative: String) -> String {
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/" + relative
    }

    private static func tests(_ example: String) -> String {
        Self.path("conf/examples/tests/\(example).pintle-test.yaml")
    }

    private static func schema() throws -> Parameter {
        try JSONScanner().parse(try Self.system.read(Self.path("conf/pintle-test.schema.json"), 1 << 20))
    }

    @Test(arguments: Self.examples)
    func `the tests of an example pass, and reach each of its rules and routes`(example: String) throws {
        let (policy, _) = try PolicyLoader.load(
            flag: Self.path("conf/examples/\(example).yaml"), surroundings: Self.system)
        var runner = PolicyTestRunner(policy)
        for test in try PolicyTestReader.read(Self.tests(example), Self.system) {
            let result = runner.run(test)
            #expect(result.differences == [], "\(test.name)")
        }
        for kind in PolicyCoverage.Kind.allCases {
            #expect([nil, 100].contains(runner.coverage.percentage(of: kind)), "\(kind): \(runner.coverage.unreached)")
        }
    }

    @Test func `every example has tests`() {
        let found = Self.system.matches(Self.path("conf/examples/*.yaml")).compactMap { path -> String? in
            let name = path.split(separator: "/").last.map { String($0.dropLast(5)) } ?? ""
            return name.hasSuffix(".openapi") ? nil : name
        }
        #expect(found == Self.examples)
    }

    @Test(arguments: Self.examples)
    func `the tests of an example are valid by the schema`(example: String) throws {
        let schema = try JSONSchema(try Self.schema(), name: "schema.json") { _ in throw Malformed("no other file") }
        let context = LoadingContext(file: Self.tests(example), surroundings: Self.system)
        let bytes = try Self.system.read(Self.tests(example), 1 << 20)
        let roots = try #require(YAMLDocument.composeAll(bytes, context))
        #expect(roots.count == 1)
        for root in roots {
            #expect(schema.violations(of: try #require(root.document())) == [])
        }
    }

    @Test(arguments: PolicyTestKeys.all)
    func `the schema lists the keys that the reader knows`(keys: KeySet) throws {
        let name = keys.path.isEmpty ? "test" : String(keys.path.split(separator: ".").last ?? "")
        let definition = try #require(try Self.schema()["$defs"]?[name])
        guard case .dictionary(let properties)? = definition["properties"] else {
            Issue.record("\(name) has no properties")
            return
        }
        #expect(properties.map(\.key).sorted() == keys.known.sorted())
        #expect(definition["additionalProperties"] == .bool(false))
    }

    @Test(arguments: [
        #"[{"name": "a"}]"#, #"[{"name": "a", "request": {"url": "a:1"}, "expect": {"decison": "deny"}}]"#,
        #"[{"name": "a", "request": {"url": "a:1"}, "expect": {"decision": "denied"}}]"#, "{}", "[]",
    ])
    func `the schema refuses what the reader refuses`(text: String) throws {
        let schema = try JSONSchema(try Self.schema(), name: "schema.json") { _ in throw Malformed("no other file") }
        #expect(schema.violations(of: try JSONScanner().parse(Array(text.utf8))) != [])
        #expect(PolicyTestStage(tests: text).problems != [])
    }
}
