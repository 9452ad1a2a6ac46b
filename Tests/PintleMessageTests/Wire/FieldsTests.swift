// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@Suite struct FieldsTests {
    private let fields: Fields = ["Host": "a", "X-Tag": "1", "Accept": "*/*", "x-tag": "2", "Via": "1.1 p, 1.0 q"]

    @Test func `names compare without case, and spelling and order stay`() {
        #expect(self.fields["x-TAG"] == "1")
        #expect(self.fields.values(of: "X-tag") == ["1", "2"])
        #expect(self.fields[.accept] == "*/*")
        #expect(self.fields.contains("via") && !self.fields.contains("X-Ta"))
        #expect(self.fields.pairs.map(\.name) == ["Host", "X-Tag", "Accept", "x-tag", "Via"])
    }

    @Test func `a value of combining marks takes no quadratic time as text, and its bytes stay`() {
        var value = "a"
        for number in 0..<200_000 { value.unicodeScalars.append(number % 2 == 0 ? "\u{301}" : "\u{323}") }
        var fields = Fields()
        fields.append("X-Tag", value)
        #expect(fields["x-tag"] != "sig" && fields.values(of: "X-Tag").allSatisfy { !$0.hasPrefix("W/") })
        var wire: [UInt8] = []
        fields.forEachRun { wire += $0 }
        #expect(wire == Array("X-Tag: ".utf8) + Array(value.utf8) + Array("\r\n".utf8))
    }

    @Test func `lines are found by thousands of names in one pass`() {
        let names = FieldNames((0..<20_000).map { "X-Other-\($0)" } + ["x-tag", "VIA"])
        #expect(self.fields.lines(called: names) == ["X-Tag": "1", "x-tag": "2", "Via": "1.1 p, 1.0 q"])
        let many = (0..<20_000).reduce(into: Fields()) { $0.append("x-other-\($1)", "a") }
        #expect(many.lines(called: names).count == 20_000 && many.lines(called: FieldNames([])).isEmpty)
    }

    @Test func `setting replaces all lines in the place of the first`() {
        var fields = self.fields
        fields.set("X-TAG", "3")
        #expect(fields == ["Host": "a", "X-TAG": "3", "Accept": "*/*", "Via": "1.1 p, 1.0 q"])
        fields.set("New", "")
        #expect(fields.pairs.last?.name == "New" && fields["new"] == "")
    }

    @Test func `removing takes every line of the name`() {
        var fields = self.fields
        fields.remove("X-TAG")
        fields.remove(.via)
        fields.remove("absent")
        #expect(fields == ["Host": "a", "Accept": "*/*"])
    }

    @Test func `new values stand in the places of the old ones`() {
        var fields = self.fields
        let copy = fields
        fields.replaceValues { name, _, value in
            // As long, longer, and empty.
            if name == .host { return Array("b".utf8) }
            if value.elementsEqual("2".utf8) { return Array("22".utf8) }
            return name == .accept ? [] : nil
        }
        #expect(fields == ["Host": "b", "X-Tag": "1", "Accept": "", "x-tag": "22", "Via": "1.1 p, 1.0 q"])
        #expect(copy == self.fields)
        var wire: [UInt8] = []
        fields.forEachRun { wire += $0 }
        #expect(wire.count == fields.byteCount)
        #expect(
            String(decoding: wire, as: UTF8.self)
                == "Host: b\r\nX-Tag: 1\r\nAccept: \r\nx-tag: 22\r\nVia: 1.1 p, 1.0 q\r\n")
    }

    @Test(arguments: UInt64(1)...20) func `runs are the section after any changes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var fields = seed % 2 == 0 ? self.fields : Fields()
        for _ in 0..<200 {
            let name = ["Host", "X-Tag", "x-tag", "Via", "Accept"].randomElement(using: &random) ?? ""
            // Values of equal lengths leave gaps that a new line fills exactly.
            let value = String(UInt8.random(in: 10...12, using: &random))
            switch UInt8.random(in: 0...9, using: &random) {
            case 0...3: fields.append(name, value)
            case 4...6: fields.set(name, value)
            case 7: fields.remove(name)
            case 8: fields.remove(.via)
            default: fields.removeAll { $0 == .accept }
            }
            var wire: [UInt8] = []
            fields.forEachRun { wire += $0 }
            let expected = fields.pairs.map { "\($0.name): \($0.value)\r\n" }.joined()
            #expect(String(decoding: wire, as: UTF8.self) == expected && fields.byteCount == wire.count)
        }
    }

    @Test func `runs are the section as it goes on the wire`() {
        var fields = self.fields
        fields.remove("Accept")
        fields.set("Host", "b")
        var wire: [UInt8] = []
        fields.forEachRun { wire += $0 }
        #expect(String(decoding: wire, as: UTF8.self) == "Host: b\r\nX-Tag: 1\r\nx-tag: 2\r\nVia: 1.1 p, 1.0 q\r\n")
        #expect(fields.byteCount == wire.count)
    }

    @Test func `list members are found over lines, without case and blanks`() {
        let fields: Fields = ["Connection": "close , X-A", "Connection": ",,\tKeep-Alive"]
        #expect(fields.hasToken("CLOSE", in: .connection) && fields.hasToken("keep-alive", in: .connection))
        #expect(!fields.hasToken("x", in: .connection))
    }

    @Test func `every known name is recognised in any case`() {
        var raw: UInt8 = 1
        while let name = FieldName(rawValue: raw) {
            #expect(FieldName(name.spelling) == name)
            #expect(FieldName(name.spelling.uppercased()) == name)
            raw += 1
        }
        #expect(FieldName("Hosts") == .other && FieldName("") == .other)
    }

    @Test func `syntax checks refuse what could split a message`() {
        #expect(FieldSyntax.isName("X-A") && !FieldSyntax.isName("X A") && !FieldSyntax.isName(""))
        #expect(FieldSyntax.isValue("a\tb") && FieldSyntax.isValue("") && FieldSyntax.isValue("ü"))
        for bad in ["a\r\nb", "a\0", " a", "a ", "\u{7F}"] { #expect(!FieldSyntax.isValue(bad)) }
    }
}

@Suite struct AuthorityTests {
    @Test(
        arguments: [
            ("Example.COM", "example.com", 80), ("a.b:8080", "a.b", 8080), ("[::1]", "::1", 80),
            ("[fe80::1]:1", "fe80::1", 1),
            ("host.", "host", 80), ("a:", "a", 80), ("a_b-c.d", "a_b-c.d", 80),
        ] as [(String, String, UInt16)])
    func `hosts and ports are read and normalised`(text: String, host: String, port: UInt16) {
        #expect(Authority(text, defaultPort: 80) == Authority(host: host, port: port))
    }

    @Test(arguments: [
        "", ":80", "a:0", "a:65536", "a:+1", "a:1:2", "u@a", "a b", "[::1", "[a]", "[::1]x", "a/b", ".", "a%00", "a..",
        "a...", "a..:80", "..",
    ])
    func `what could be read in two ways is no authority`(text: String) {
        #expect(Authority(text, defaultPort: 80) == nil)
    }

    @Test func `it is spelled as a URL wants it`() {
        #expect(Authority(host: "::1", port: 443).description(for: .https) == "[::1]")
        #expect(Authority(host: "a", port: 80).description(for: .https) == "a:80")
        #expect(Authority("a", defaultPort: nil) == nil)
    }
}

@Suite struct ForwardingTests {
    @Test func `fields of one connection are removed, with those that Connection names`() {
        var fields: Fields = [
            "Host": "a", "Connection": "close, X-Mine", "X-Mine": "1", "Keep-Alive": "5", "TE": "trailers",
            "Trailer": "X",
            "Transfer-Encoding": "chunked", "Upgrade": "h2c", "Proxy-Authorization": "Basic x",
            "Proxy-Connection": "close",
            "Proxy": "x", "Content-Length": "3", "X-Yours": "2",
        ]
        Forwarding.removeHopByHop(from: &fields)
        #expect(fields == ["Host": "a", "X-Yours": "2"])
    }

    @Test func `Connection cannot take away what the message means`() {
        var fields: Fields = ["Connection": "Authorization, Host, Content-Type", "Authorization": "x", "Host": "a"]
        Forwarding.removeHopByHop(from: &fields)
        #expect(fields == ["Authorization": "x", "Host": "a"])
    }

    @Test func `Via is appended and recognised`() {
        var fields: Fields = ["Via": "1.0 fred"]
        Forwarding.appendVia("pintle", version: "1.0", to: &fields)
        #expect(fields.values(of: "Via") == ["1.0 fred", "1.0 pintle"])
        #expect(Forwarding.hasPassed("Pintle", fields) && Forwarding.hasPassed("fred", fields))
        #expect(!Forwarding.hasPassed("pin", fields))
    }

    /// Values are checked eight bytes at a time: each byte is tried at each place of such a word, and after the last one.
    @Test func `a control byte is refused wherever it stands in a value, and nothing else is`() {
        for byte in UInt8.min...UInt8.max {
            let isControl = byte < 0x20 && byte != 0x09 || byte == 0x7F
            for place in 1..<20 {
                var line = Array("Name: \(String(repeating: "v", count: 21))".utf8)
                line[6 + place] = byte
                // The byte before it may let it look like a control byte.
                line[5 + place] = 0xFF
                var fields = Fields()
                let isTaken = line.withUnsafeBytes { (try? fields.append(line: $0)) != nil }
                #expect(isTaken != isControl, "byte \(byte) at place \(place)")
            }
        }
    }

    /// Names are looked at in the same way.
    @Test func `a name is refused for a byte that is of no token, wherever it stands, and for no other`() {
        let others = Set("!#$%&'*+-.^_`|~".utf8)
        for byte in UInt8.min...UInt8.max {
            let isLetterOrDigit = byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 && byte < 0x80
            for place in 0..<20 {
                var line = Array("\(String(repeating: "n", count: 20)): value".utf8)
                line[place] = byte
                var fields = Fields()
                let isTaken = line.withUnsafeBytes { (try? fields.append(line: $0)) != nil }
                // A colon ends a name that has begun.
                let isName = isLetterOrDigit || others.contains(byte) || byte == UInt8(ascii: ":") && place > 0
                #expect(isTaken == isName, "byte \(byte) at place \(place)")
            }
        }
    }

    @Test(arguments: ["0.0.0.0", "9.10.99.100", "127.0.0.1", "255.255.255.255", "109.200.1.90"])
    func `an IPv4 address is written in dotted decimal`(text: String) {
        #expect(IPAddress(text)?.description == text)
    }
}
