// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleAudit

/// Questions to name servers, and their answers as bytes.
@Suite struct CAAReplyTests {
    private let question: CAAQuestion

    init() throws { self.question = try #require(CAAQuestion(name: "www.A.test", id: 0x1234)) }

    private func read(_ bytes: [UInt8]) throws(CAAReply.Failure) -> CAAReply { try CAAReply(bytes, to: self.question) }

    private func message(_ records: [ScriptedNameServer.Record] = [.init("issue", "ca.test")]) -> [UInt8] {
        ScriptedNameServer.message(to: self.question.bytes, records)
    }

    @Test func `a question has the name, the type, and room for a long answer`() {
        #expect(
            self.question.bytes
                == [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 3] + Array("www".utf8) + [1, 97, 4] + Array("test".utf8)
                + [0, 1, 1, 0, 1, 0, 0, 41, 4, 0xD0, 0, 0, 0, 0, 0, 0])
    }

    @Test(arguments: [
        "", "a..test", "a.test.", ".a", String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "a",
    ])
    func `a name that no server knows cannot be asked for`(name: String) {
        #expect(CAAQuestion(name: name, id: 1) == nil)
    }

    @Test func `records come with their name, or under the name that it is an alias of`() throws {
        #expect(try self.read(self.message()).records == [CAARecord(tag: "issue", value: "ca.test")])
        let alias = ScriptedNameServer.message(
            to: self.question.bytes, alias: "other.test", [.init("issue", "b.test", isCritical: true)])
        #expect(try self.read(alias).records == [CAARecord(isCritical: true, tag: "issue", value: "b.test")])
        #expect(try self.read(self.message([])).records == [])
    }

    @Test func `records of other names are none of the answer`() throws {
        // The owner becomes the last label of the question.
        let message = self.message().replacingFirst([0xC0, 12], with: [0xC0, 12 + 6])
        #expect(try self.read(message).records == [])
    }

    @Test func `a name that does not exist has no records, and other codes are kept`() throws {
        for code in UInt8(0)...15 {
            let reply = try self.read(
                ScriptedNameServer.message(to: self.question.bytes, code: code, [.init("issue", "a")]))
            #expect(reply.code == Int(code) && reply.records.count == ([0, 3].contains(code) ? 1 : 0))
        }
        let cut = try self.read(ScriptedNameServer.message(to: self.question.bytes, flags: 0x83, []))
        #expect(cut.isTruncated && cut.records == [])
    }

    @Test func `a message that answers another question is foreign`() throws {
        let good = self.message()
        for (place, value) in [(0, 0), (2, 1), (5, 2), (13, 120), (25, 2), (27, 3)] as [(Int, UInt8)] {
            var bytes = good
            bytes[place] = value
            #expect(throws: CAAReply.Failure.foreign, "\(place)") { try self.read(bytes) }
        }
        for count in 0..<28 { #expect(throws: CAAReply.Failure.foreign) { try self.read(Array(good[..<count])) } }
    }

    @Test func `a cut answer, names that run in circles, and broken records are malformed`() throws {
        let good = self.message()
        for count in 28..<good.count {
            #expect(throws: CAAReply.Failure.self) { try self.read(Array(good[..<count])) }
        }
        let place = try #require(good.firstRange(of: [0xC0, 12])?.lowerBound)
        for target in [place, place + 1, place - 1 + 0x100] {
            var bytes = good
            (bytes[place], bytes[place + 1]) = (0xC0 | UInt8(target >> 8), UInt8(target & 0xFF))
            #expect(throws: CAAReply.Failure.malformed("a record of it is cut off")) { try self.read(bytes) }
        }
        let broken = good.replacingFirst([0, 5] + Array("issue".utf8), with: [0, 5] + Array("iss-e".utf8))
        #expect(throws: CAAReply.Failure.malformed("a CAA record in it is broken")) { try self.read(broken) }
    }

    @Test func `aliases in a circle end`() throws {
        let circle = ScriptedNameServer.message(to: self.question.bytes, alias: "www.a.test", [])
        #expect(try self.read(circle).records == [])
    }

    @Test func `random and damaged answers are read or refused`() {
        var generator = SeededGenerator(seed: 99)
        let good = ScriptedNameServer.message(
            to: self.question.bytes, alias: "other.test", [.init("issue", "a.test"), .init("iodef", "mailto:a@b.test")])
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 28..<bytes.count, using: &generator)
                if Bool.random(using: &generator) {
                    bytes[place] = .random(in: .min ... .max, using: &generator)
                } else {
                    bytes.remove(at: place)
                }
                guard bytes.count > 30 else { break }
            }
            if let reply = try? self.read(bytes) { #expect(reply.records.count <= 2) }
        }
    }
}

extension [UInt8] {
    fileprivate func replacingFirst(_ old: [UInt8], with new: [UInt8]) -> [UInt8] {
        guard let range = self.firstRange(of: old) else { return self }
        var copy = self
        copy.replaceSubrange(range, with: new)
        return copy
    }
}
