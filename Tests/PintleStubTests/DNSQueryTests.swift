// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleStub

struct DNSQueryTests {
    private func header(_ flags: UInt16 = 0x0100) -> DNSQuery.Header { DNSQuery.Header(id: 0x1234, flags: flags) }

    @Test func `a question has a name in lower case, a type, and its bytes as they came`() throws {
        let question = Question("WWW.Example.ORG", 28)
        let query = try DNSQuery(question.bytes)
        #expect(
            query
                == DNSQuery(
                    header: self.header(), question: question.question, name: "www.example.org", type: 28,
                    isInternet: true, extensions: nil))
        var other = question
        other.kind = 3
        #expect(try DNSQuery(other.bytes).isInternet == false)
        #expect(try DNSQuery(Question("").bytes).name == "")
    }

    @Test func `EDNS is read, and options in it are passed over`() throws {
        #expect(try DNSQuery(Question("a.example").extended(options: [0, 10, 0, 1, 9]).bytes).extensions == 0)
        #expect(try DNSQuery(Question("a.example").extended(version: 7).bytes).extensions == 7)
        #expect(throws: DNSQuery.Failure.malformed(self.header())) {
            try DNSQuery(Question("a.example").extended().extended().bytes)
        }
        // Signed questions have another record behind it.
        var signed = Question("a.example").extended()
        signed.counts[3] += 1
        signed.rest += [1, 0x6B, 0, 0, 250, 0, 255, 0, 0, 0, 0, 0, 2, 1, 2]
        #expect(try DNSQuery(signed.bytes).extensions == 0)
    }

    @Test func `a response and a fragment of a header get no answer`() {
        var response = Question("a.example")
        response.flags = 0x8100
        for bytes in [response.bytes, [], Array(Question("a.example").bytes.prefix(11))] {
            #expect(throws: DNSQuery.Failure.unanswerable) { try DNSQuery(bytes) }
        }
    }

    @Test func `another operation is not implemented`() {
        var update = Question("a.example")
        update.flags = 0x2800
        #expect(throws: DNSQuery.Failure.notImplemented(self.header(0x2800))) { try DNSQuery(update.bytes) }
    }

    @Test func `other numbers of questions and records are malformed`() {
        for counts in [[0, 0, 0, 0], [2, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]] as [[UInt16]] {
            var question = Question("a.example")
            question.counts = counts
            #expect(throws: DNSQuery.Failure.malformed(self.header())) { try DNSQuery(question.bytes) }
        }
    }

    @Test func `names with pointers, long labels and more than 255 bytes are malformed`() throws {
        let start = Array(Question("").bytes.prefix(12))
        for name in [[0xC0, 12], [1, 97, 0xC0, 12], [64] + [UInt8](repeating: 97, count: 64) + [0], [3, 97]] {
            #expect(throws: DNSQuery.Failure.malformed(self.header())) { try DNSQuery(start + name + [0, 1, 0, 1]) }
        }
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(try DNSQuery(Question(longest).bytes).name == longest)
        #expect(throws: DNSQuery.Failure.malformed(self.header())) { try DNSQuery(Question(longest + "b").bytes) }
    }

    @Test func `bytes that no host's name has are no text`() throws {
        for label in [[97, 46, 98], [97, 0], [0x20], [0xC3, 0xA4]] as [[UInt8]] {
            var question = Question("x.example")
            question.labels[0] = label
            #expect(try DNSQuery(question.bytes).name == nil)
        }
    }

    @Test func `any bytes are read without harm, and what is read is answered in 512 bytes`() {
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        let service = NameService(names: CapturedNames()) { _ in
            true
        } denied: { _ in
        }
        let seeds = [
            Question("www.example.org").bytes, Question("a.example", 28).extended().bytes,
            Question("1.0.18.198.in-addr.arpa", 12).extended(options: [0, 10, 0, 2, 1, 2]).bytes,
        ]
        for _ in 0..<20_000 {
            var bytes = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0..<6, using: &generator) {
                guard let place = bytes.indices.randomElement(using: &generator) else { break }
                switch UInt8.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = .random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(.random(in: 0...255, using: &generator), at: place)
                default: bytes.removeLast(bytes.count - place)
                }
            }
            let answer = service.answer(bytes)
            #expect(answer.map { $0.count <= 512 && $0.prefix(2) == bytes.prefix(2) && $0[2] & 0x80 != 0 } ?? true)
        }
    }
}
