// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The question for post-quantum groups, and answers to it, without a socket.
@Suite struct GroupInquiryTests {
    private typealias Group = PostQuantumGroup

    private static let retry: [UInt8] = [
        0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
        0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
    ]

    /// A question, with the session id that answers must repeat.
    private struct Question {
        var inquiry: GroupInquiry
        let hello: [UInt8]

        init(_ groups: [PostQuantumGroup] = PostQuantumGroup.allCases, host: String = "a.example", seed: UInt64 = 1) {
            var generator = SeededGenerator(seed: seed)
            self.inquiry = GroupInquiry(host: host, groups: groups, using: &generator)
            self.hello = self.inquiry.takeOutput()
        }

        // Behind the heads of the record and of the message, the version, the random bytes and the length.
        var session: [UInt8] { Array(self.hello[(5 + 4 + 2 + 32 + 1)...].prefix(32)) }
    }

    /// A ServerHello whose parts can be changed.
    private struct Answer {
        var random = GroupInquiryTests.retry
        var session: [UInt8]
        var cipher: [UInt8] = [0x13, 2]
        var compression: UInt8 = 0
        var version: [UInt8]? = [3, 4]
        var group: [UInt8]? = [0x11, 0xEC]
        var more: [UInt8] = []
        var rest: [UInt8] = []

        var record: [UInt8] { HelloBytes.record(self.message) }

        var message: [UInt8] {
            var extensions: [UInt8] = self.more
            if let version { extensions += HelloBytes.extension(43, version) }
            if let group { extensions += HelloBytes.extension(51, group) }
            let body =
                [3, 3] + self.random + [UInt8(self.session.count)] + self.session + self.cipher + [self.compression]
            let size = [UInt8(extensions.count >> 8), UInt8(extensions.count & 0xFF)]
            return HelloBytes.message(body + size + extensions + self.rest, type: 2)
        }
    }

    private func state(_ bytes: [UInt8], pieces size: Int = .max, _ question: Question) -> GroupInquiry.State {
        var inquiry = question.inquiry
        for start in stride(from: 0, to: bytes.count, by: min(size, max(1, bytes.count))) {
            inquiry.receive(bytes[start..<min(start + min(size, bytes.count), bytes.count)])
        }
        return inquiry.state
    }

    private func answer(_ change: (inout Answer) -> Void) -> GroupInquiry.State {
        let question = Question()
        var answer = Answer(session: question.session)
        change(&answer)
        return self.state(answer.record, question)
    }

    @Test func `the hello has the name, the groups and no share of any of them`() {
        var reader = ClientHelloReader()
        let hello = Question([.secp256r1MLKEM768, .mlkem1024]).hello
        #expect(reader.read(hello) == .hello("a.example"))
        func has(_ bytes: [UInt8]) -> Bool {
            hello.indices.contains { hello[$0...].starts(with: bytes) }
        }
        #expect(has(HelloBytes.extension(10, [0, 4, 0x11, 0xEB, 2, 2])))
        #expect(has(HelloBytes.extension(43, [2, 3, 4])) && has(HelloBytes.extension(51, [0, 0])))
        for (host, name) in [("127.0.0.1", nil), ("::1", nil), ("a.example.", "a.example")] {
            var reader = ClientHelloReader()
            #expect(reader.read(Question(host: host).hello) == .hello(name), "\(host)")
        }
    }

    @Test func `two questions have different random bytes`() {
        #expect(Question(seed: 1).session != Question(seed: 2).session)
    }

    @Test(arguments: PostQuantumGroup.allCases, [1, 3, 50, .max])
    func `the group that the server asks for is the answer, however its bytes are cut`(
        group: PostQuantumGroup, size: Int
    ) {
        let question = Question()
        var answer = Answer(session: question.session)
        answer.group = [UInt8(group.rawValue >> 8), UInt8(group.rawValue & 0xFF)]
        #expect(self.state(answer.record, pieces: size, question) == .chosen(group))
        // A message may be cut into records too, and a cookie may stand beside the group.
        answer.more = HelloBytes.extension(44, [0, 2, 7, 7])
        let records = stride(from: 0, to: answer.message.count, by: 20).flatMap { start in
            HelloBytes.record(Array(answer.message[start..<min(start + 20, answer.message.count)]))
        }
        #expect(self.state(records, pieces: size, question) == .chosen(group))
        for count in 0..<records.count {
            #expect(self.state(Array(records[..<count]), question) == .going, "\(count)")
        }
    }

    @Test func `the connection is closed by an alert once there is an answer`() {
        var question = Question()
        question.inquiry.receive(Answer(session: question.session).record)
        #expect(question.inquiry.takeOutput() == [21, 3, 3, 0, 2, 1, 0] && question.inquiry.takeOutput() == [])
    }

    @Test func `an alert is the end, a warning is not`() {
        let question = Question()
        let refusal: [UInt8] = [21, 3, 3, 0, 2, 2, 40]
        #expect(self.state(refusal, question) == .failed(.alert(.handshakeFailure)))
        let warning: [UInt8] = [21, 3, 3, 0, 2, 1, 112]
        #expect(self.state(warning, question) == .going)
        #expect(
            self.state(warning + Answer(session: question.session).record, pieces: 1, question)
                == .chosen(.x25519MLKEM768))
        #expect(self.state([21, 3, 3, 0, 2, 1, 0], question) == .failed(.closed(afterBytes: 7)))
    }

    @Test func `the end of the connection is a failure once`() {
        var inquiry = Question().inquiry
        inquiry.receive([22, 3])
        inquiry.receiveEnd()
        #expect(inquiry.state == .failed(.closed(afterBytes: 2)))
        inquiry.receiveEnd()
        inquiry.receive([UInt8](repeating: 0, count: 100))
        #expect(inquiry.state == .failed(.closed(afterBytes: 2)))
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n", "220 mail.test ESMTP\r\n", "\u{16}\u{4}"])
    func `another protocol is told by its first bytes`(text: String) {
        let bytes = Array(text.utf8)
        #expect(self.state(bytes, Question()) == .failed(.plainText(bytes)))
    }

    @Test func `answers that no honest server gives are failures, and each says why`() {
        let cases: [((inout Answer) -> Void, String)] = [
            ({ $0.version = nil }, "it chose another version than TLS 1.3, which alone was offered"),
            ({ $0.version = [3, 3] }, "it chose another version than TLS 1.3, which alone was offered"),
            ({ $0.version = [3] }, "its ServerHello cannot be read"),
            ({ $0.session[0] ^= 1 }, "its ServerHello does not repeat the session id"),
            ({ $0.session = [] }, "its ServerHello does not repeat the session id"),
            ({ $0.session += [1] }, "its ServerHello cannot be read"),
            ({ $0.cipher = [0x13, 4] }, "it chose a cipher suite that was not offered"),
            ({ $0.random[31] ^= 1 }, "it began a key exchange for which it had no share"),
            ({ $0.compression = 1 }, "its ServerHello cannot be read"),
            ({ $0.group = nil }, "its HelloRetryRequest names no group"),
            ({ $0.group = [0x11] }, "its HelloRetryRequest names no group"),
            ({ $0.group = [0x11, 0xEC, 0, 0] }, "its HelloRetryRequest names no group"),
            ({ $0.group = [0, 29] }, "its HelloRetryRequest names a group that was not offered"),
            ({ $0.more = HelloBytes.extension(51, [0, 29]) }, "its ServerHello cannot be read"),
            ({ $0.more = [0, 1, 0, 9] }, "its ServerHello cannot be read"),
            ({ $0.rest = [0] }, "its ServerHello cannot be read"),
        ]
        for (change, reason) in cases { #expect(self.answer(change) == .failed(.misbehaved(reason))) }
        let records: [([UInt8], String)] = [
            (HelloBytes.record([11, 0, 0, 0]), "it answered the ClientHello with a message of type 11 and 0 bytes"),
            (
                HelloBytes.record([2, 1, 2, 0]), "it answered the ClientHello with a message of type 2 and 66048 bytes"
            ),
            ([22, 3, 3, 0, 0], "it sent a record of 0 bytes"),
            ([22, 3, 3, 0x40, 1], "it sent a record of 16385 bytes"),
            ([21, 3, 3, 0, 1, 2], "it sent an alert of 1 bytes"),
            (
                HelloBytes.record([2, 0]) + HelloBytes.record([1], type: 20),
                "it sent a record of type 20 in place of its ServerHello"
            ),
        ]
        for (bytes, reason) in records { #expect(self.state(bytes, Question()) == .failed(.misbehaved(reason))) }
    }

    @Test func `warnings without end are not read without end`() {
        let warnings = [[UInt8]](repeating: [21, 3, 3, 0, 2, 1, 112], count: GroupInquiry.receiveLimit / 7 + 1)
        #expect(
            self.state(Array(warnings.joined()), pieces: 9973, Question())
                == .failed(.misbehaved("it sent more than 128 KiB without an end")))
    }

    @Test func `random and damaged answers end as failures or with a group that was offered`() {
        var generator = SeededGenerator(seed: 4711)
        let groups: [PostQuantumGroup] = [.x25519MLKEM768, .mlkem512]
        for number in 0..<20_000 {
            let question = Question(groups)
            var bytes: [UInt8]
            if number.isMultiple(of: 2) {
                bytes = Answer(session: question.session).record
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let place = Int.random(in: 0..<bytes.count, using: &generator)
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: bytes[place] = .random(in: .min ... .max, using: &generator)
                    case 1: bytes.insert(.random(in: .min ... .max, using: &generator), at: place)
                    default: bytes.remove(at: place)
                    }
                }
            } else {
                let count = Int.random(in: 1...300, using: &generator)
                bytes = [22, 3] + (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            }
            let whole = self.state(bytes, question)
            if case .chosen(let group) = whole { #expect(groups.contains(group)) }
            // A failure has the same reason however the bytes come, but for the bytes that are quoted or counted.
            switch (whole, self.state(bytes, pieces: 1, question)) {
            case (.failed(.plainText), .failed(.plainText)), (.failed(.closed), .failed(.closed)): break
            case (let one, let other): #expect(one == other, "case \(number)")
            }
        }
    }
}
