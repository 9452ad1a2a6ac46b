// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSchema
import PintleSerialization
import Testing

/// Responses that are made by an OpenAPI document.
@Suite struct OpenAPIAnswerTests {
    private static let shop = ##"""
        {"openapi":"3.1.0","paths":{
          "/pets":{"get":{"responses":{
            "200":{"headers":{
                "X-Total":{"required":true,"schema":{"type":"integer","minimum":5,"maximum":5}},
                "X-Names":{"required":true,"schema":{"type":"array","items":{"const":"a"},"minItems":2,"maxItems":2}},
                "Link":{"required":true,"example":"</pets?page=2>; rel=next","schema":{"type":"string"}},
                "X-Maybe":{"schema":{"type":"string"}},
                "Content-Type":{"required":true,"schema":{"type":"string"}}},
              "content":{
                "text/csv":{"example":"id,name\n1,Tom\n"},
                "application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Pet"},"minItems":1},
                  "examples":{"one":{"value":[{"id":1}]},"two":{"$ref":"#/components/examples/Two"},
                    "wrong":{"value":[{"id":"x"}]},"far":{"externalValue":"https://example.com/x"},
                    "lost":{"$ref":"#/components/examples/Nowhere"}}},
                "application/hal+json":{"schema":{"type":"object","example":{"hal":true}}}}},
            "404":{"content":{"application/problem+json":{"schema":{"type":"object","required":["title"],
              "properties":{"title":{"type":"string"}}},"examples":{"gone":{"value":{"title":"gone"}}}}}},
            "5XX":{"content":{"application/json":{"schema":{"type":"null"}}}},
            "default":{"content":{"application/json":{"schema":{"const":"other"}}}}}},
           "post":{"responses":{"201":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}}}}}},
           "put":{"responses":{"204":{},"100":{}}},
           "delete":{"responses":{"202":{"content":{"application/json":{}}},"default":{"content":{"*/*":{}}}}},
           "patch":{"responses":{"200":{"content":{"application/json":{"example":{"id":"wrong"},
             "schema":{"$ref":"#/components/schemas/Pet"}}}}}}},
          "/page":{"get":{"responses":{"default":{"content":{"text/html":{"schema":{"type":"string","const":"<p>"}}}}}},
            "post":{"responses":{"303":{"headers":{"Location":{"required":true,"schema":{"type":"string","format":"uri"}}}}}},
            "put":{"responses":{"200":{"content":{"image/*":{}}},"301":{}}}}},
         "components":{"examples":{"Two":{"value":[{"id":2}]}},
          "schemas":{"Pet":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},
            "secret":{"type":"string","writeOnly":true},"name":{"type":["string","null"],"maxLength":9}}}}}}
        """##

    private func operation(_ method: String, _ path: String) throws -> OpenAPIOperation {
        let document = try OpenAPIDocument(
            json(Self.shop), name: "api.json", resolve: reader(of: [:]), examples: bytes(of: [:]))
        return try document.operation(method: method, path: path).operation
    }

    /// The ways in which responses are made.
    private enum Way: CaseIterable {
        case examples, generated, legal, broken
    }

    private func answer(
        _ way: Way, of operation: OpenAPIOperation, accept: String? = nil, prefer: String? = nil, seed: UInt64
    ) -> OpenAPIAnswer? {
        let kind: SchemaSample.Kind = way == .legal ? .legal : way == .broken ? .broken : .ordinary
        return operation.answer(kind, onlyExamples: way == .examples, accept: accept, prefer: prefer, seed: seed)
    }

    /// The status, the media type and the body of the responses for some seeds, each once.
    private func answers(
        _ way: Way, _ method: String = "GET", _ path: String = "/pets", accept: String? = nil,
        prefer: String? = nil, count: UInt64 = 60
    ) throws -> Set<String> {
        let operation = try self.operation(method, path)
        return Set(
            (0..<count).map { seed in
                guard let answer = self.answer(way, of: operation, accept: accept, prefer: prefer, seed: seed) else {
                    return "none"
                }
                let type = answer.head.fields["Content-Type"].map { " \($0)" } ?? ""
                return "\(answer.head.status)\(type) \(String(decoding: answer.body, as: UTF8.self))"
            })
    }

    // MARK: Examples

    @Test(
        arguments: [
            (nil, nil, ["200 application/json [{\"id\":1}]", "200 application/json [{\"id\":2}]"]),
            (nil, "example=two", ["200 application/json [{\"id\":2}]"]),
            (nil, "respond-async, Example=\"wrong\"; x=1", ["200 application/json [{\"id\":\"x\"}]"]),
            (nil, "example=gone", ["404 application/problem+json {\"title\":\"gone\"}"]),
            (nil, "code=404", ["404 application/problem+json {\"title\":\"gone\"}"]),
            (nil, "code=404, example=one", ["none"]), (nil, "example=far", ["none"]), (nil, "code=999", ["none"]),
            (nil, "code=503", ["none"]),
            ("text/csv", nil, ["200 text/csv id,name\n1,Tom\n"]),
            ("text/*;q=0.9, application/json;q=0.1", nil, ["200 text/csv id,name\n1,Tom\n"]),
            ("application/hal+json", nil, ["200 application/hal+json {\"hal\":true}"]),
            ("image/png", "example=one", ["200 application/json [{\"id\":1}]"]),
            ("application/json;q=0, text/csv", nil, ["200 text/csv id,name\n1,Tom\n"]),
            ("*/*;q=0.1", "example=one", ["200 application/json [{\"id\":1}]"]),
        ] as [(String?, String?, [String])])
    func `an example is chosen by the seed and by the wishes of the request`(
        _ accept: String?, _ prefer: String?, _ expected: [String]
    ) throws {
        #expect(try self.answers(.examples, accept: accept, prefer: prefer) == Set(expected))
    }

    @Test func `what has no example is a miss`() throws {
        #expect(try self.answers(.examples, "POST", count: 5) == ["none"])
        #expect(try self.answers(.examples, "PUT", count: 5) == ["204 "])
        #expect(try self.answers(.examples, "GET", "/page", count: 5) == ["none"])
    }

    @Test func `an example that breaks its schema is used only if nothing may be made`() throws {
        #expect(try self.answers(.examples, "PATCH", count: 5) == [#"200 application/json {"id":"wrong"}"#])
        #expect(
            try self.answers(.generated, "PATCH").isDisjoint(with: [#"200 application/json {"id":"wrong"}"#, "none"]))
    }

    @Test func `the required fields have values`() throws {
        let answer = try #require(self.answer(.examples, of: try self.operation("GET", "/pets"), seed: 1))
        var lines: [String] = []
        for name in ["Content-Type", "X-Total", "X-Names", "Link", "X-Maybe"] {
            lines += answer.head.fields.values(of: name).map { "\(name): \($0)" }
        }
        #expect(
            lines == ["Content-Type: application/json", "X-Total: 5", "X-Names: a,a", "Link: </pets?page=2>; rel=next"])
        #expect(answer.head.fields.count == 4)
        #expect(answer.note.hasPrefix("200 application/json: the example “"), "\(answer.note)")
        let moved = try #require(self.answer(.generated, of: try self.operation("POST", "/page"), seed: 1))
        #expect(moved.head.status == 303 && moved.body.isEmpty && moved.note == "303 without a body")
        #expect(moved.head.fields["Location"]?.hasPrefix("https://example.com/items/") == true)
    }

    // MARK: Made bodies

    private func verdict(_ answer: OpenAPIAnswer, of operation: OpenAPIOperation) throws -> [String] {
        switch operation.responseRule(status: answer.head.status, contentType: answer.head.fields["Content-Type"]) {
        case .schema(let schema):
            guard let value = try? JSONScanner(fragmentsAllowed: true).parse(answer.body) else { return ["no JSON"] }
            return schema.violations(of: value)
        case .anyBody, .noBody: return []
        case .undeclaredType(let sentence), .undeclaredStatus(let sentence): return [sentence]
        }
    }

    private static let operations = [
        ("GET", "/pets"), ("POST", "/pets"), ("PUT", "/pets"), ("DELETE", "/pets"), ("PATCH", "/pets"),
        ("GET", "/page"),
        ("POST", "/page"), ("PUT", "/page"),
    ]

    @Test(arguments: OpenAPIAnswerTests.operations)
    func `made responses keep to the contract, and broken ones do not`(_ method: String, _ path: String) throws {
        let operation = try self.operation(method, path)
        for seed in 0..<60 as Range<UInt64> {
            for way in [Way.generated, .legal] {
                let answer = try #require(self.answer(way, of: operation, seed: seed), "\(way) \(seed)")
                #expect(try self.verdict(answer, of: operation) == [], "\(answer.note)")
            }
            // DELETE declares everything for every status.
            guard let broken = operation.answer(.broken, seed: seed) else {
                #expect(method == "DELETE")
                continue
            }
            #expect(try self.verdict(broken, of: operation) != [], "\(broken.note)")
        }
    }

    @Test func `a body for a response has no member that belongs in requests`() throws {
        for text in try self.answers(.generated, "POST") { #expect(!text.contains("secret") && text.contains("name")) }
        for text in try self.answers(.legal, "POST", count: 200) { #expect(!text.contains("secret")) }
    }

    @Test func `legal responses have every declared status, mostly successes`() throws {
        let operation = try self.operation("GET", "/pets")
        let statuses = (0..<400).compactMap { operation.answer(.legal, seed: $0)?.head.status }
        #expect(statuses.filter { $0 == 200 }.count > 200)
        #expect(Set(statuses).isSuperset(of: [200, 404, 500]))
        #expect(Set(statuses).isSubset(of: [200, 404, 500, 400, 429]))
    }

    @Test func `broken responses break the body, the media type or the status`() throws {
        let operation = try self.operation("GET", "/pets")
        let answers = (0..<200).compactMap { operation.answer(.broken, seed: $0) }
        #expect(answers.contains { $0.note.hasSuffix("the media type is not declared") })
        #expect(answers.contains { $0.note.contains("must be an integer") })
        #expect(try self.answers(.broken, "PUT", "/pets").isSubset(of: ["500 ", "503 ", "404 ", "418 ", "202 "]))
        let untyped = try self.operation("PATCH", "/pets").answer(.broken, prefer: "code=200", seed: 5)
        #expect(untyped?.head.status == 200)
    }

    @Test func `a text is sent as it is, and other types have an empty body`() throws {
        #expect(try self.answers(.generated, "GET", "/page") == ["200 text/html <p>"])
        #expect(try self.answers(.generated, "PUT", "/page") == ["200 image/png "])
        #expect(try self.answers(.generated, "DELETE", "/pets") == ["202 application/json {}"])
    }

    @Test func `a seed makes the same response`() throws {
        let operation = try self.operation("GET", "/pets")
        for way in Way.allCases {
            let two = (0..<2).map { _ in
                (0..<20).map { seed in
                    self.answer(way, of: operation, seed: seed).map { "\($0.note) \($0.body)" } ?? "none"
                }
            }
            #expect(two[0] == two[1])
            #expect(Set(two[0]).count > 1)
        }
    }

    /// An example in OpenAPI 3.0 is a single one, also inside of schemas.
    @Test func `an old document has examples, too`() throws {
        let document = try OpenAPIDocument(
            json(
                ##"""
                {"openapi":"3.0.3","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":
                {"type":"object","required":["n"],"properties":{"n":{"type":"integer","nullable":true,"example":4}}}}}}}}}}}
                """##), name: "api.json", resolve: reader(of: [:]), examples: bytes(of: [:]))
        let operation = try document.operation(method: "GET", path: "/a").operation
        let answer = try #require(self.answer(.generated, of: operation, seed: 3))
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"n":4}"#)
        let legal = (0..<60).compactMap { operation.answer(.legal, seed: $0)?.note }
        #expect(legal.contains { $0.contains("/n: null") })
    }
}
