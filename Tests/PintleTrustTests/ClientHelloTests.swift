// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The server name of a TLS client, as far as its first bytes show it.
@Suite struct ClientHelloTests {
    private typealias Hello = HelloBytes

    private func look(_ pieces: [[UInt8]]) -> [ClientHelloReader.Finding] {
        var reader = ClientHelloReader()
        return pieces.map { reader.read($0) }
    }

    private func look(_ bytes: [UInt8]) -> ClientHelloReader.Finding {
        let finding = self.look([bytes])[0]
        let last = self.look(bytes.map { [$0] }).last { $0 != .nothingNew && $0 != .undecided }
        if case .malformed = finding, case .malformed? = last { return finding }
        // Undecided bytes may be held back together with a hello before them.
        if finding != .undecided { #expect(last == finding, "byte by byte") }
        return finding
    }

    private static let unreadable = ClientHelloReader.Finding.malformed("its ClientHello cannot be read")
    private static let noHello = ClientHelloReader.Finding.malformed("it begins with no ClientHello")

    @Test(arguments: [("a.example", "a.example"), ("A.Example.", "A.Example."), ("127.0.0.1", "127.0.0.1"), (nil, nil)])
    func `the name is seen as the client spells it`(name: String?, expected: String?) {
        #expect(self.look(Hello(name).record) == .hello(expected))
    }

    @Test func `a hello without extensions names nobody`() {
        #expect(self.look(Hello(extensions: nil).record) == .hello(nil))
    }

    @Test(arguments: [1, 2, 5, 37, 200]) func `records and pieces may cut it anywhere`(size: Int) {
        let message = Hello("a.example", padding: 300).message
        let records = stride(from: 0, to: message.count, by: size).flatMap {
            HelloBytes.record(Array(message[$0..<min($0 + size, message.count)]))
        }
        #expect(self.look(records) == .hello("a.example"))
        for count in 0..<records.count {
            #expect(self.look([Array(records[..<count])])[0] == (count == 0 ? .nothingNew : .undecided), "\(count)")
        }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\u{13}\u{3}\u{1}", "\u{80}\u{80}"])
    func `other protocols are seen by their first bytes`(text: String) {
        #expect(self.look(Array(text.utf8)) == .otherProtocol)
    }

    @Test(arguments: [(0, 0), (2, 0), (4, 0), (255, 255)] as [(UInt8, UInt8)])
    func `LOOK-100 the version of the first record tells nothing`(major: UInt8, minor: UInt8) {
        let record = Hello("a.example").record
        let other = [record[0], major, minor] + record.dropFirst(3)
        #expect(self.look(other) == .hello("a.example"))
        for count in 1..<other.count { #expect(self.look([Array(other[..<count])])[0] == .undecided, "\(count)") }
        // Another protocol that begins like a record is let through when that shows.
        #expect(self.look([22, major, minor, 0, 20] + [UInt8](repeating: 9, count: 20)) == .otherProtocol)
    }

    /// Length, type, version, and the rest in the form of SSL 2 (RFC 5246 §E.2).
    @Test(
        arguments: [[0x80, 0x1F, 1, 3, 1], [0x80, 0x1F, 1, 3, 3], [0x80, 0x2E, 1, 0, 2], [0xFF, 0xFF, 1, 3, 0]]
            as [[UInt8]])
    func `LOOK-28 a hello in SSL 2's form names nobody`(start: [UInt8]) {
        #expect(self.look(start + [UInt8](repeating: 0, count: 40)) == .hello(nil))
        #expect(self.look(start.map { [$0] }) == [.undecided, .undecided, .undecided, .undecided, .hello(nil)])
        for other in [
            Array(start.prefix(2)) + [2], Array(start.prefix(3)) + [4], [start[0] & 0x7F] + start.dropFirst(),
        ] {
            #expect(self.look(other + [0, 0, 0]) == .otherProtocol, "\(other)")
        }
    }

    @Test(arguments: [20, 21, 23, 24] as [UInt8])
    func `nothing comes before the hello`(type: UInt8) {
        // Some servers pass over an alert that is only a warning.
        #expect(self.look(HelloBytes.record([1, 0], type: type) + Hello("a.example").record) == Self.noHello)
    }

    @Test func `another handshake message is no hello`() {
        #expect(self.look(HelloBytes.record([2, 0, 0, 1, 0])) == Self.noHello)
    }

    @Test func `two names, two lists and other kinds of names are not read`() {
        let name = HelloBytes.name("a.example")
        let cases: [[UInt8]] = [
            HelloBytes.names(name + HelloBytes.name("b.example")), HelloBytes.names(name) + HelloBytes.names(name),
            HelloBytes.names([]), HelloBytes.names([1] + name.dropFirst()), HelloBytes.names(HelloBytes.name("")),
            HelloBytes.names(HelloBytes.name("a b")), HelloBytes.names(HelloBytes.name("a\0.example")),
            HelloBytes.names(HelloBytes.name("ä.example")), HelloBytes.names(name + [0]),
            HelloBytes.names(HelloBytes.name(String(repeating: "a", count: 256))), HelloBytes.extension(0, []),
            HelloBytes.names(name) + [0, 1, 0],
        ]
        for extensions in cases { #expect(self.look(Hello(extensions: extensions).record) == Self.unreadable) }
    }

    @Test func `what does not end where it says is not read`() {
        var long = Hello("a.example").body
        long.append(0)
        #expect(self.look(HelloBytes.record(HelloBytes.message(long))) == Self.unreadable)
        let short = Array(Hello("a.example").body.dropLast())
        #expect(self.look(HelloBytes.record(HelloBytes.message(short))) == Self.unreadable)
        #expect(self.look(HelloBytes.record(Hello("a.example").message + [1])) == Self.unreadable)
        #expect(self.look(HelloBytes.record([1, 0, 0, 0])) == Self.unreadable)
    }

    @Test func `a record between the pieces of a hello is not read`() {
        let message = Hello("a.example").message
        for type in [20, 21, 23, 9] as [UInt8] {
            let bytes = HelloBytes.record(Array(message[..<20])) + HelloBytes.record([1, 0], type: type)
            guard case .malformed = self.look([bytes])[0] else {
                Issue.record("a record of type \(type)")
                continue
            }
        }
        let empty = HelloBytes.record(Array(message[..<20])) + HelloBytes.record([])
        #expect(self.look([empty])[0] == .malformed("a record of its ClientHello has 0 bytes"))
    }

    @Test func `what waits is bounded`() {
        let tooLong = ClientHelloReader.Finding.malformed("its ClientHello is over 64 KiB")
        let part = HelloBytes.record([UInt8](repeating: 0, count: 16_000))
        let start = HelloBytes.record([1, 0, 0xFF, 0xFF, 3, 3])
        #expect(self.look([start, part, part, part, part, part]).contains(tooLong))
        #expect(self.look([start + part + part + part + part + part]) == [tooLong])
        #expect(self.look([HelloBytes.record([1, 1, 0, 0, 3, 3])]) == [Self.noHello])
        #expect(self.look([[22, 3, 1, 0xFF, 0xFF]]) == [.malformed("a record of its ClientHello has 65535 bytes")])
    }

    // MARK: The second hello

    private static let change = HelloBytes.record([1], type: 20)
    private static let data = HelloBytes.record([UInt8](repeating: 1, count: 500), type: 23)
    private static let otherName = ClientHelloReader.Finding.malformed(
        "its second ClientHello names another server than the first")

    @Test func `a second hello names the same server`() {
        let (first, other) = (Hello("a.example", isNew: true).record, Hello("b.example", isNew: true).record)
        #expect(self.look([first, Self.change + first]) == [.hello("a.example"), .hello("a.example")])
        #expect(self.look([first, other]) == [.hello("a.example"), Self.otherName])
        #expect(self.look([first + Self.change, other]) == [.hello("a.example"), Self.otherName])
        #expect(self.look(first + other) == Self.otherName)
        #expect(self.look([first, Hello(nil, isNew: true).record])[1] == Self.otherName)
        // A hello that came whole is not forgotten while further bytes are held back.
        #expect(self.look([first + [20], Array(Self.change.dropFirst())]) == [.undecided, .hello("a.example")])
    }

    @Test func `data that is sent ahead hides no second hello`() {
        let early = Hello("a.example", isNew: true, announcesData: true).record
        let other = Hello("b.example", isNew: true).record
        #expect(self.look([early, Self.change, Self.data + Self.data, other]).last == Self.otherName)
        #expect(self.look(early + Self.data + Self.data) == .hello("a.example"))
    }

    @Test(arguments: [HelloBytes.record([1, 2, 3], type: 23), HelloBytes.record([16, 0, 0, 2, 1, 1])])
    func `whatever else comes is the end of it`(next: [UInt8]) {
        var reader = ClientHelloReader()
        #expect(reader.read(Hello("a.example", isNew: true).record) == .hello("a.example"))
        #expect(!reader.isOver)
        #expect(reader.read(next) == .nothingNew && reader.isOver)
        #expect(reader.read(Hello("b.example").record) == .nothingNew)
        var old = ClientHelloReader()
        #expect(old.read(Hello("a.example").record) == .hello("a.example") && old.isOver, "TLS 1.2 has no second one")
    }

    @Test(arguments: 0..<200) func `no bytes are too odd`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bytes = Hello("a.example", isNew: true).record + Self.change + Hello("a.example").record
        for _ in 0..<(seed % 7) {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
        }
        _ = self.look(bytes)
    }
}
