// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

@testable import PintleAttestation

/// Statements. Their sums must follow from their exchanges, even if the key has signed them.
struct VerifiedStatementTests {
    private static let digest = String(repeating: "ab", count: 32)

    @Test func `a statement says what its exchanges say`() throws {
        let body: Parameter = ["sha256": .string(Self.digest)]
        let rule = "destinations.deny[0] \\\"x.test\\\""
        let leaves =
            (0..<6).map { SignedReportSample.leaf($0, keys: ["sha256/leaf", "sha256/root"], body: body) } + [
                SignedReportSample.leaf(6, decision: "deny", rule: rule),
                SignedReportSample.leaf(7, status: 404, body: body),
                SignedReportSample.leaf(8, body: ["gap": "it was not sent whole"]),
                SignedReportSample.leaf(
                    5, body: ["sha256": .string(String(repeating: "cd", count: 32)), "coding": "gzip"]),
            ]
        let name = "destinations.deny[0] \"x.test\""
        let statement = try SignedReportSample.verified(
            SignedReportSample.report(leaves, missed: 2, places: [name: "pintle.yaml:3:9"]))
        #expect(statement.count == 10 && statement.document.text("_type") == "https://in-toto.io/Statement/v1")
        let predicate = statement.predicate
        #expect(predicate.number("exchanges_missing") == 2 && predicate.number("exchange_count") == 10)
        #expect(predicate["decisions"] == ["allow": 9, "deny": 1])
        #expect(predicate.elements("rules") == [["rule": .string(name), "place": "pintle.yaml:3:9", "exchanges": 1]])
        let host = predicate.elements("hosts")[0]
        #expect(host.text("host") == "h0.test:80" && host.elements("keys") == [["sha256/leaf", "sha256/root"]])
        let files = statement.document.elements("subject")
        #expect(files.count == 7 && files[5].text("name") == "http://h2.test:80/5")
        #expect(files[6].text("name") == "http://h2.test:80/5 (2)")
        #expect(files[6]["annotations"] == ["content_coding": "gzip"] && files[0]["digest"] == body)
        var lines: [[UInt8]] = []
        statement.forEachLine { lines.append($0) }
        #expect(lines.count == 12 && lines.last == Array("]}}".utf8))
        let whole = try JSONScanner().parse(Array(lines.joined(separator: [10])))
        #expect(whole["predicate"]?.elements("exchanges").count == 10)
    }

    @Test func `a run without exchanges has a statement, about their chain`() throws {
        let statement = try SignedReportSample.verified(SignedReportSample.report([]))
        #expect(statement.count == 0)
        let zeros = String(repeating: "0", count: 64)
        #expect(
            statement.document.elements("subject") == [["name": "exchanges", "digest": ["sha256": .string(zeros)]]])
    }

    @Test func `entries beyond the limits are counted, alike by the writer and by the reader`() throws {
        let body: Parameter = ["sha256": .string(Self.digest)]
        let leaves = (0..<5003).map { number in
            SignedReportSample.leaf(
                number, host: "h\(number % 1002).test", rule: "r\(number % 1001)", keys: ["k\(number)"], body: body)
        }
        let statement = try SignedReportSample.verified(SignedReportSample.report(leaves))
        let predicate = statement.predicate
        #expect(predicate.elements("hosts").count == 1000 && predicate.elements("rules").count == 1000)
        #expect(
            predicate.number("exchanges_with_other_hosts") == 8 && predicate.number("exchanges_of_other_rules") == 4)
        #expect(predicate.number("files_left_out") == 3 && statement.document.elements("subject").count == 5000)
        #expect(predicate.elements("hosts")[0].number("other_keys") == 1)
    }

    @Test func `an exchange that is too long is missing, and told`() throws {
        let long = SignedReportSample.leaf(1, host: String(repeating: "x", count: 1 << 20))
        let statement = try SignedReportSample.verified(SignedReportSample.report([long, SignedReportSample.leaf(2)]))
        #expect(statement.count == 1 && statement.predicate.number("exchanges_missing") == 1)
    }

    // MARK: Statements that Pintle has not written, but the key has signed

    private static func payload(_ leaves: Int = 3) throws -> String {
        let statement = try SignedReportSample.verified(
            SignedReportSample.report((0..<leaves).map { SignedReportSample.leaf($0) }))
        var lines: [String] = []
        statement.forEachLine { lines.append(String(decoding: $0, as: UTF8.self)) }
        return lines.joined(separator: "\n")
    }

    @Test(arguments: [
        ("\"exchange_count\":3", "\"exchange_count\":4", "its exchange_count does not follow from its exchanges"),
        ("\"merkle_root\":\"", "\"merkle_root\":\"0", "its merkle_root does not follow from its exchanges"),
        ("\"last_hash\":\"", "\"last_hash\":\"0", "its last_hash does not follow from its exchanges"),
        (
            "\"host\":\"h1.test:80\",\"exchanges\":1", "\"host\":\"h1.test:80\",\"exchanges\":2",
            "its hosts does not follow"
        ),
        ("{\"allow\":3}", "{\"allow\":2}", "its decisions does not follow from its exchanges"),
        ("\"name\":\"exchanges\"", "\"name\":\"other\"", "its subject does not follow from its exchanges"),
        ("Statement/v1", "Statement/v9", "its _type is not https://in-toto.io/Statement/v1"),
        ("urn:pintle:run:1", "urn:pintle:run:2", "its predicateType is not urn:pintle:run:1; another version"),
        ("\"status\":200", "\"status\":201", "the hash of exchange 1 does not follow from it"),
        (",\n{", "\n{", "exchange 1 has no comma behind it"),
        ("\n]}}", ",\n]}}", "a comma follows the last exchange"), ("\n]}}", "", "the statement ends early"),
        ("\n]}}", "\n]}}\n", "exchange 3 has no comma behind it"),
        ("\n]}}", "\n]}} ", "exchange 3 has no comma behind it"),
        (",\"exchanges\":[\n", ",\"exchanges\": [\n", "the statement is not one about a run of Pintle"),
        ("{\"_type\"", "{{\"_type\"", "the statement is not JSON: "),
        ("{\"exchange\":{", "{\"exchange\":[", "exchange 1: it is not JSON"),
        ("\"decision\":\"allow\"", "\"decision\":null", "exchange 1: it has no decision"),
        ("\"hash\":\"", "\"hash\":\"A", "exchange 1: it is not JSON"),
    ])
    func `a signature does not help a statement that contradicts itself`(
        old: String, new: String, reason: String
    ) throws {
        var payload = try Self.payload()
        let place = try #require(payload.firstRange(of: old))
        payload.replaceSubrange(place, with: new)
        let objection = try SignedReportSample.objection(to: SignedReportSample.signed(payload))
        #expect(objection?.hasPrefix(reason) == true, "\(objection ?? "it holds")")
    }

    @Test func `exchanges in another order, or one less, are found`() throws {
        var lines = try Self.payload(4).split(separator: "\n").map(String.init)
        lines.swapAt(1, 2)
        var objection = try SignedReportSample.objection(to: SignedReportSample.signed(lines.joined(separator: "\n")))
        #expect(objection == "the hash of exchange 1 does not follow from it and from those before")
        lines = try Self.payload(4).split(separator: "\n").map(String.init)
        lines.remove(at: 1)
        objection = try SignedReportSample.objection(to: SignedReportSample.signed(lines.joined(separator: "\n")))
        #expect(objection == "the hash of exchange 1 does not follow from it and from those before")
    }

    @Test(arguments: [
        "", "\n", "{", "]}}", "\n]}}", "{\"predicate\":{\"x\":1,\"exchanges\":[\n]}}",
        String(repeating: "[", count: 100_000) + ",\"exchanges\":[\n]}}",
        String(repeating: "{\"a\":", count: 40) + ",\"exchanges\":[\n]}}",
    ])
    func `a signed payload of any kind is refused with a reason`(payload: String) throws {
        #expect(try SignedReportSample.objection(to: SignedReportSample.signed(payload)) != nil)
    }

    @Test func `signed statements with any changes are refused with a reason, or hold`() throws {
        let payload = Array(try Self.payload(4).utf8)
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        for _ in 0..<1000 {
            var changed = payload
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let start = Int.random(in: changed.indices, using: &generator)
                let end = min(changed.count, start + Int.random(in: 0...8, using: &generator))
                let from = Int.random(in: payload.indices, using: &generator)
                changed.replaceSubrange(
                    start..<end, with: payload[from...].prefix(Int.random(in: 1...8, using: &generator)))
            }
            guard let text = String(validating: changed, as: UTF8.self) else { continue }
            let objection = try SignedReportSample.objection(to: SignedReportSample.signed(text))
            #expect(objection?.isEmpty != true && objection?.contains("signature") != true, "seed \(Seed.ofThisRun)")
        }
    }

    @Test func `a line that is too long is not read`() throws {
        var payload = try Self.payload(1)
        payload = payload.replacing(
            "{\"exchange\":{", with: "{\"exchange\":{\"x\":\"\(String(repeating: "x", count: 2 << 20))\",")
        let objection = try SignedReportSample.objection(to: SignedReportSample.signed(payload))
        #expect(objection?.contains("at most 1048832 are read") == true, "\(objection ?? "it holds")")
    }
}
