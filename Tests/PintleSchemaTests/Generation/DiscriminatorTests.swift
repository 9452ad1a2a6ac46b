// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

/// Values for schemas whose branches are told apart by a member.
@Suite struct DiscriminatorTests {
    /// Answers of an operation whose response is `schema`, among these components.
    private static func values(
        _ schema: String, _ components: String = Self.pets, _ kind: SchemaSample.Kind = .ordinary,
        files: [String: String] = [:], count: UInt64 = 60
    ) throws -> [Parameter] {
        let document = try OpenAPIDocument(
            json(
                """
                {"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":\(schema)}}}}}}},
                 "components":{"schemas":{\(components)}}}
                """), name: "api.json", resolve: reader(of: files), examples: bytes(of: [:]))
        let operation = try document.operation(method: "GET", path: "/a").operation
        return try (0..<count).map { seed in
            try JSONScanner().parse(try #require(operation.answer(kind, seed: seed)).body)
        }
    }

    private static let pets = """
        "Cat":{"type":"object","required":["lives"],"properties":{"kind":{"type":"string"},"lives":{"type":"integer"}}},
        "Dog":{"type":"object","required":["tricks","kind"],"properties":{"kind":{"type":"string"},"tricks":{"type":"integer"}}}
        """

    /// The values of `kind` for cats and for dogs. A value that must be one of them alone may have the other's member with another
    /// type.
    private static func kinds(_ values: [Parameter]) -> (cats: Set<String?>, dogs: Set<String?>) {
        let cats = values.filter { Self.isCat($0) }
        let dogs = values.filter { Self.isDog($0) }
        return (Set(cats.map { $0.text("kind") }), Set(dogs.map { $0.text("kind") }))
    }

    private static func isCat(_ value: Parameter) -> Bool { value.number("lives") != nil }

    private static func isDog(_ value: Parameter) -> Bool { value.number("tricks") != nil }

    @Test(arguments: ["oneOf", "anyOf"], [SchemaSample.Kind.ordinary, .legal])
    func `a value names the branch that was taken`(keyword: String, kind: SchemaSample.Kind) throws {
        let values = try Self.values(
            ##"{"\##(keyword)":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"kind"}}"##,
            Self.pets, kind)
        // With anyOf a value may be both.
        let kinds = Self.kinds(values.filter { Self.isCat($0) != Self.isDog($0) })
        #expect(kinds.cats == ["Cat"] && kinds.dogs == ["Dog"], "\(values)")
    }

    @Test func `a mapping comes before the name of the schema`() throws {
        let values = try Self.values(
            ##"""
            {"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],
             "discriminator":{"propertyName":"kind","mapping":{"meow":"Cat","woof":"#/components/schemas/Dog","none":"#/components/schemas/No"}}}
            """##)
        let kinds = Self.kinds(values)
        #expect(kinds.cats == ["meow"] && kinds.dogs == ["woof"], "\(values)")
    }

    @Test func `a mapping leads to another file`() throws {
        let values = try Self.values(
            ##"""
            {"oneOf":[{"$ref":"cat.json"},{"$ref":"#/components/schemas/Dog"}],
             "discriminator":{"propertyName":"kind","mapping":{"meow":"cat.json"}}}
            """##,
            files: ["cat.json": #"{"type":"object","required":["lives"],"properties":{"lives":{"type":"integer"}}}"#])
        let kinds = Self.kinds(values)
        #expect(kinds.cats == ["meow"] && kinds.dogs == ["Dog"], "\(values)")
    }

    @Test func `a branch without a name is not taken`() throws {
        let values = try Self.values(
            ##"""
            {"anyOf":[{"type":"object","required":["inline"]},{"$ref":"#/components/schemas/Cat"}],
             "discriminator":{"propertyName":"kind"}}
            """##)
        #expect(values.allSatisfy { $0.text("kind") == "Cat" && $0["inline"] == nil }, "\(values)")
    }

    @Test func `the schemas decide if they contradict the names`() throws {
        let values = try Self.values(
            ##"{"oneOf":[{"$ref":"#/components/schemas/Cat"}],"discriminator":{"propertyName":"kind"}}"##,
            #""Cat":{"type":"object","required":["kind"],"properties":{"kind":{"const":"CAT"}}}"#)
        #expect(values.allSatisfy { $0.text("kind") == "CAT" }, "\(values)")
    }

    @Test func `values in lists name their branches, too`() throws {
        let values = try Self.values(
            ##"""
            {"type":"array","minItems":2,"items":{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],
             "discriminator":{"propertyName":"kind"}}}
            """##)
        for case .array(let items) in values {
            let kinds = Self.kinds(items)
            #expect(kinds.cats.isSubset(of: ["Cat"]) && kinds.dogs.isSubset(of: ["Dog"]), "\(items)")
        }
    }
}
