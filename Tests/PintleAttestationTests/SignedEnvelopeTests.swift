// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

@testable import PintleAttestation

/// Envelopes of DSSE in the one form that is accepted.
struct SignedEnvelopeTests {
    private static func report() throws -> [UInt8] {
        try SignedReportSample.report((0..<4).map { SignedReportSample.leaf($0) })
    }

    @Test func `what is signed is DSSE's pre-authentication encoding`() {
        let head = SignedEnvelope.authenticatedHead(ofPayload: 11)
        #expect(String(decoding: head, as: UTF8.self) == "DSSEv1 28 application/vnd.in-toto+json 11 ")
    }

    @Test func `a report is a JSON document with the members of DSSE`() throws {
        let file = try Self.report()
        let root = try #require(try JSONSerialization.jsonObject(with: Data(file)) as? [String: Any])
        #expect(Set(root.keys) == ["payload", "payloadType", "signatures"])
        #expect(root["payloadType"] as? String == "application/vnd.in-toto+json")
        let signatures = try #require(root["signatures"] as? [[String: String]])
        #expect(signatures.count == 1 && signatures[0]["keyid"] == SignedReportSample.key.publicKey.pin.description)
        #expect(file.last == UInt8(ascii: "\n"))
    }

    @Test func `every change of one byte is found`() throws {
        let file = try Self.report()
        #expect(SignedReportSample.objection(to: file) == nil)
        var generator = SeededGenerator(seed: 6962)
        for index in file.indices {
            var changed = file
            changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            #expect(SignedReportSample.objection(to: changed) != nil, "byte \(index)")
        }
    }

    @Test func `every byte that is missing or comes twice, and every exchange of neighbours, is found`() throws {
        let file = try Self.report()
        for index in file.indices {
            var changed = file
            changed.remove(at: index)
            #expect(SignedReportSample.objection(to: changed) != nil, "without byte \(index)")
            changed = file
            changed.insert(file[index], at: index)
            #expect(SignedReportSample.objection(to: changed) != nil, "byte \(index) twice")
            guard index > 0, file[index] != file[index - 1] else { continue }
            changed = file
            changed.swapAt(index - 1, index)
            #expect(SignedReportSample.objection(to: changed) != nil, "bytes \(index - 1) and \(index)")
        }
    }

    @Test func `an end that is cut off, at any length, is found`() throws {
        let file = try Self.report()
        for count in 0..<file.count { #expect(SignedReportSample.objection(to: Array(file.prefix(count))) != nil) }
        #expect(SignedReportSample.objection(to: file + file) != nil)
    }

    @Test func `another key is named by both names`() throws {
        let other = try SigningKey(
            pem: Array(
                PEMText.block(
                    "PRIVATE KEY",
                    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
                        + [UInt8](repeating: 7, count: 32)
                ).utf8), file: "other")
        let file = try [UInt8](repeating: 0, count: SignedEnvelope.room) + Self.report()
        let mine = SignedReportSample.key.publicKey.pin
        #expect(
            throws: AttestationError("it names \(mine) as its key, but the key given is \(other.publicKey.pin)")
        ) { try VerifiedStatement(file: file, by: other.publicKey) }
        // A forger can change the name, but not sign.
        let text = String(decoding: file, as: UTF8.self)
            .replacing(mine.description, with: other.publicKey.pin.description)
        #expect(
            throws: AttestationError("its signature does not hold: it was changed, or another key has signed it")
        ) { try VerifiedStatement(file: Array(text.utf8), by: other.publicKey) }
    }

    @Test(arguments: [
        ("sha2\n56/", "no pin"), ("\u{1B}[2Jsha256/", "no pin"), ("sha256//", "not as Pintle writes it"),
    ])
    func `the name of a key is not repeated unless it is a pin`(_ beginning: String, _ fault: String) throws {
        let pin = SignedReportSample.key.publicKey.pin.description
        let text = String(decoding: try Self.report(), as: UTF8.self)
            .replacing(pin, with: beginning + pin.dropFirst("sha256/".count))
        #expect(
            SignedReportSample.objection(to: Array(text.utf8)) == "it was changed: the name of its key is \(fault)")
    }
}
