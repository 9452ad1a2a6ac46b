// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import PintleTesting
import Testing

@Suite struct JSONPropertyTests {
    @Test func `writing and reading is the identity`() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<2000 {
            let parameter = RandomParameter.document(depth: 5, &random)
            let options: JSONWriter.Options = Bool.random(using: &random) ? .pretty : []
            let written = try JSONWriter.write(parameter, options: options)
            let read = try JSONScanner().parse(written)
            #expect(read == parameter)
            // String compares by canonical equivalence; the bytes say more.
            #expect(try JSONWriter.write(read, options: options) == written)
        }
    }

    @Test func `Foundation accepts what is written`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1000 {
            let written = try JSONWriter.write(RandomParameter.document(depth: 4, &random))
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(written)) }
        }
    }

    @Test func `mutations never crash and only what is accepted can be read`() throws {
        var random = SeededGenerator(seed: 4)
        let scanner = JSONScanner(fragmentsAllowed: true)
        var accepted = 0
        for _ in 0..<10_000 {
            var document = try JSONWriter.write(RandomParameter.document(depth: 3, &random))
            for _ in 0..<Int.random(in: 1...3, using: &random) { Mutation.json.apply(to: &document, &random) }
            let isValid = (try? scanner.validate(document)) != nil
            let read = try? scanner.parse(document)
            #expect((read != nil) == isValid)
            let removal = Result { try scanner.removingNulls(from: document) }
            guard isValid else {
                #expect(throws: JSONSyntaxError.self) { try removal.get() }
                continue
            }
            accepted += 1
            let slim = try removal.get() ?? document
            #expect(try scanner.parse(slim) == read.map(Self.withoutNulls))
        }
        #expect(accepted > 500)
    }

    @Test func `Foundation agrees on mutated structure`() throws {
        var random = SeededGenerator(seed: 5)
        // Foundation refuses numbers that no Double holds, so there are none here.
        let pieces = [
            "[", "]", "{", "}", ",", ":", "\"a\"", "\"\"", "1", "-0.5", "1e2", "true", "null", " ", "[]", "{}",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...6, using: &random)
            let document = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            // Foundation also lets a comma follow the last string of an array, which RFC 8259 does not.
            if document.contains("\",]") || document.contains("\", ") { continue }
            let isValid = (try? JSONScanner(fragmentsAllowed: true).validate(bytes(document))) != nil
            let theirs = try? JSONSerialization.jsonObject(with: Data(document.utf8), options: .fragmentsAllowed)
            #expect((theirs != nil) == isValid, "\(document)")
        }
    }

    private static func withoutNulls(_ parameter: Parameter) -> Parameter {
        switch parameter {
        case .array(let elements): .array(elements.filter { $0 != .null }.map(Self.withoutNulls))
        case .dictionary(let entries):
            .dictionary(
                entries.filter { $0.value != .null }.map { Parameter.Entry($0.key, Self.withoutNulls($0.value)) })
        default: parameter
        }
    }
}
