// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

/// Examples in files of their own (`externalValue`).
@Suite struct ExternalExampleTests {
    private static let files = [
        "conf/examples/cat.json": #"{"id":7}"#, "conf/page.txt": "hello", "conf/broken.json": "{", "cat.json": "{}",
    ]

    private static func document(_ reference: String, type: String = "application/json") throws -> OpenAPIDocument {
        try OpenAPIDocument(
            json(
                """
                {"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"content":{"\(type)":{
                 "examples":{"far":{"externalValue":"\(reference)"}}}}}}}}}}
                """), name: "conf/api.json", resolve: reader(of: [:]), examples: bytes(of: Self.files))
    }

    private static func answer(_ document: OpenAPIDocument) throws -> String? {
        let operation = try document.operation(method: "GET", path: "/a").operation
        return operation.answer(.ordinary, onlyExamples: true, seed: 1).map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test(arguments: [
        ("examples/cat.json", "application/json", #"{"id":7}"#), ("./page.txt", "text/plain", "hello"),
        ("examples/../page.txt", "text/plain", "hello"),
    ])
    func `a file below the folder of the contract is an example`(reference: String, type: String, body: String) throws {
        let document = try Self.document(reference, type: type)
        #expect(try Self.answer(document) == body)
        #expect(document.unreadExamples.isEmpty)
    }

    @Test(arguments: [
        ("https://example.com/cat.json", "nothing is fetched from the network; name a file by its relative path"),
        ("//example.com/cat.json", "nothing is fetched from the network; name a file by its relative path"),
        ("../cat.json", "only files below the folder of the contract are read; put it there"),
        ("examples/../../cat.json", "only files below the folder of the contract are read; put it there"),
        ("/etc/passwd", "only files below the folder of the contract are read; put it there"),
        ("none.json", "it cannot be read: there is no such file"),
    ])
    func `any other is none, and its reason is told`(reference: String, reason: String) throws {
        let document = try Self.document(reference)
        #expect(try Self.answer(document) == nil)
        #expect(
            document.unreadExamples.map(\.description) == [
                "conf/api.json#/paths/~1a/get/responses/200/content/application~1json/examples/far/externalValue: “\(reference)” counts as no example: \(reason)"
            ])
    }

    @Test func `a file that is not JSON is no example of JSON`() throws {
        let document = try Self.document("broken.json")
        #expect(try Self.answer(document) == nil)
        #expect(document.unreadExamples.first?.sentence.contains("the file is not valid JSON: ") == true)
    }
}
