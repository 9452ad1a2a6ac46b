// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct TextEncodingTests {
    /// Names of IANA, and text that the encoding has.
    private static let samples: [(name: String, text: String)] = [
        ("utf-8", "aä日😀"), ("us-ascii", "a~ b"), ("iso-8859-1", "aäÿ"), ("iso-8859-2", "ąłŘ"), ("iso-8859-5", "Жя"),
        ("iso-8859-7", "αΩ"), ("iso-8859-9", "ğİş"), ("iso-8859-15", "€Š"), ("windows-1250", "ąŁ€"),
        ("windows-1251", "Жя€"), ("windows-1252", "€ä’"), ("windows-1253", "αΩ€"), ("windows-1254", "ğİ€"),
        ("koi8-r", "Привет"), ("shift_jis", "日本ーア"), ("euc-jp", "日本ーア"), ("iso-2022-jp", "日本"), ("gb18030", "中文😀ä"),
        ("gbk", "中文"), ("big5", "中文許"), ("euc-kr", "한국어"), ("macintosh", "aäπ"), ("utf-16le", "aä日😀"),
        ("utf-16be", "aä日😀"), ("utf-32le", "aä日😀"), ("utf-32be", "aä日😀"), ("utf-16", "aä日😀"), ("utf-32", "aä日😀"),
    ]

    /// The expected encodings come from Python, which has its own tables.
    @Test(arguments: ["", "klingon", "&UTF-8", "UTF-8//TRANSLIT", "utf 8", "-utf-8", "utf-8\u{0}", "latin\u{E9}"])
    func `what is no name of an encoding is none`(name: String) {
        #expect(throws: SerializationError.self) { try TextEncoding(name) }
    }

    @Test func `text is encoded as by another implementation, and comes back`() throws {
        let known = Self.samples.filter { (try? TextEncoding($0.name)) != nil }
        let script =
            "import sys\nfor a in sys.argv[1:]:\n n, t = a.split('|', 1)\n "
            + "sys.stdout.write(t.encode({'macintosh': 'mac_roman'}.get(n, n)).hex() + chr(10))"
        let child = try ChildProcess(
            "/usr/bin/env", ["python3", "-X", "utf8", "-c", script] + known.map { "\($0.name)|\($0.text)" })
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        try #require(child.output.count == known.count)
        for (sample, hex) in zip(known, child.output) {
            let encoding = try TextEncoding(sample.name)
            let encoded = try encoding.encode(sample.text)
            let digits = encoded.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            // With a byte order mark either order is right.
            if sample.name != "utf-16", sample.name != "utf-32" { #expect(digits == hex, "\(sample.name)") }
            #expect(encoding.decode(encoded) == sample.text, "\(sample.name)")
        }
        #expect(known.count == Self.samples.count, "\(Self.samples.count - known.count) are not known")
    }

    @Test func `a letter that an encoding lacks is an error and never replaced`() throws {
        for name in ["iso-8859-1", "windows-1252", "koi8-r", "us-ascii", "shift_jis"] {
            let encoding = try TextEncoding(name)
            let error = SerializationError(.unencodable, "the text has characters that \(name) lacks.")
            #expect(throws: error) { try encoding.encode("😀") }
        }
    }

    @Test(arguments: ["shift_jis", "gbk", "big5", "windows-1251"])
    func `a form is read in its charset, though letters have brackets among their bytes`(name: String) throws {
        let encoding = try TextEncoding(name)
        let text = name == "windows-1251" ? "Жя" : name == "shift_jis" ? "ーア" : "許文"
        func escaped(_ text: String) throws -> String {
            try encoding.encode(text).map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let form = "\(try escaped(text))=\(try escaped(text))&a[\(try escaped(text))]=1"
        let head = request("POST", "/", ["Content-Type": "application/x-www-form-urlencoded; charset=\(name)"])
        let expected: Parameter = .dictionary([
            .init(text, .string(text)), .init("a", .dictionary([.init(text, "1")])),
        ])
        #expect(try IncomingParameters.read(head, body: bytes(form)) == expected)
    }
}
