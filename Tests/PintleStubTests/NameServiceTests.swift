// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSystem
import Testing

@testable import PintleStub

struct NameServiceTests {
    private let names = CapturedNames()
    private let denied = Locked<[String]>([])
    private let service: NameService

    init() {
        let denied = self.denied
        self.service = NameService(names: self.names) {
            $0.hasSuffix(".example")
        } denied: { name in
            denied.withLock { $0.append(name) }
        }
    }

    private func answer(_ name: String, _ type: UInt16 = DNSQuery.RecordType.a) throws -> DNSAnswer {
        try self.service.answer(DNSQuery(Question(name, type).bytes))
    }

    private func address(_ text: String) throws -> DNSAnswer {
        DNSAnswer(code: .success, record: .address(try #require(IPAddress(text))))
    }

    @Test func `a name that is allowed has one address of each family, whoever asks`() throws {
        #expect(try self.answer("one.example") == self.address("198.18.0.2"))
        #expect(try self.answer("two.example", 28) == self.address("fd70:696e:746c:e000::3"))
        #expect(try self.answer("ONE.example", 28) == self.address("fd70:696e:746c:e000::2"))
        #expect(try self.answer("one.example") == self.address("198.18.0.2"))
        #expect(self.denied.withLock { $0 }.isEmpty)
    }

    @Test func `other types of a name that is allowed have no data`() throws {
        for type in [2, 5, 15, 16, 33, 65, 255] as [UInt16] {
            #expect(try self.answer("one.example", type) == DNSAnswer(code: .success))
        }
    }

    @Test func `a name that is not allowed does not exist, and is told`() throws {
        #expect(try self.answer("one.test", 65) == DNSAnswer(code: .noSuchName))
        #expect(self.denied.withLock { $0 } == ["one.test"])
        #expect(self.names.name(of: IPAddress(v4: 0xC612_0002)) == nil)
    }

    @Test func `a service is judged by the domain that has it`() throws {
        let (names, denied) = (CapturedNames(), Locked<[String]>([]))
        let service = NameService(names: names) {
            $0 == "deb.example"
        } denied: { name in
            denied.withLock { $0.append(name) }
        }
        func answer(_ name: String, _ type: UInt16) throws -> DNSAnswer {
            try service.answer(DNSQuery(Question(name, type).bytes))
        }
        for type in [16, 33, 65] as [UInt16] {
            #expect(try answer("_http._tcp.deb.example", type) == DNSAnswer(code: .success))
        }
        #expect(denied.withLock { $0 }.isEmpty)
        for (name, type) in [("_http._tcp.other.example", 33), ("_http._tcp.deb.example", 1)] as [(String, UInt16)] {
            #expect(try answer(name, type) == DNSAnswer(code: .noSuchName), "\(name)")
        }
        #expect(
            denied.withLock { $0 } == ["_http._tcp.other.example", "_http._tcp.deb.example"],
            "names are told as they were asked for")
        // A service takes no address.
        #expect(try answer("deb.example", 1) == self.address("198.18.0.2"))
    }

    @Test func `names that no host can have do not exist`() throws {
        for name in ["", "1.2.3.4", "127.1", "0x7f000001", "a b.example", "a:80.example", "x.1"] {
            #expect(try self.answer(name) == DNSAnswer(code: .noSuchName), "\(name)")
        }
        #expect(try self.answer("_sip._tcp.one.example", 33) == DNSAnswer(code: .success))
        #expect(self.denied.withLock { $0 }.isEmpty)
    }

    @Test func `localhost is this machine, whatever the policy says`() throws {
        #expect(try self.answer("localhost") == self.address("127.0.0.1"))
        #expect(try self.answer("a.LOCALHOST", 28) == self.address("::1"))
        #expect(try self.answer("localhost", 16) == DNSAnswer(code: .success))
    }

    @Test func `an address of ours has its name, and no other has one`() throws {
        _ = try self.answer("one.example")
        let name = DNSAnswer(code: .success, record: .pointer("one.example"))
        #expect(try self.answer("2.0.18.198.in-addr.arpa", 12) == name)
        let zeros = String(repeating: "0.", count: 15)
        #expect(try self.answer("2.\(zeros)0.0.0.e.c.6.4.7.e.6.9.6.0.7.d.f.ip6.arpa", 12) == name)
        #expect(try self.answer("2.0.18.198.in-addr.arpa", 1) == DNSAnswer(code: .success))
        #expect(try self.answer("1.0.0.127.in-addr.arpa", 12).record == .pointer("localhost"))
        for other in ["3.0.18.198", "1.0.18.198", "8.8.8.8"] {
            #expect(try self.answer("\(other).in-addr.arpa", 12) == DNSAnswer(code: .noSuchName))
        }
        #expect(self.denied.withLock { $0 }.isEmpty)
    }

    @Test func `other classes and unknown versions of EDNS are refused`() throws {
        var chaos = Question("version.bind", 16)
        chaos.kind = 3
        #expect(self.service.answer(try DNSQuery(chaos.bytes)) == DNSAnswer(code: .refused))
        let later = Question("one.example").extended(version: 1)
        #expect(self.service.answer(try DNSQuery(later.bytes)) == DNSAnswer(code: .badVersion))
    }

    @Test func `without room for a name the answer is a failure`() throws {
        let full = NameService(names: CapturedNames(room: 1)) { _ in
            true
        } denied: { _ in
        }
        #expect(full.answer(try DNSQuery(Question("one.example").bytes)).code == .success)
        #expect(full.answer(try DNSQuery(Question("two.example").bytes)) == DNSAnswer(code: .failed))
    }

    @Test func `an answer repeats the question, and has a record of one second`() throws {
        let question = Question("One.example").extended()
        let answer = try #require(self.service.answer(question.bytes))
        #expect(
            answer == [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 1] + question.question
                + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 198, 18, 0, 2]
                + [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0])
        let later = try #require(self.service.answer(Question("one.example").extended(version: 1).bytes))
        #expect(later.suffix(11) == [0, 0, 41, 0x04, 0xD0, 1, 0, 0, 0, 0, 0] && later[3] & 0xF == 0)
    }

    @Test func `what is no question gets an error, or nothing`() throws {
        var update = Question("one.example")
        update.flags = 0x2900
        #expect(self.service.answer(update.bytes) == [0x12, 0x34, 0xA9, 0x84, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(
            self.service.answer(Question("one.example").bytes.dropLast())
                == [0x12, 0x34, 0x81, 0x81, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(self.service.answer([1, 2, 3]) == nil)
    }
}
