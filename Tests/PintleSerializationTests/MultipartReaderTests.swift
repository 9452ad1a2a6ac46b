// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

@Suite struct MultipartReaderTests {
    private func read(_ body: String, type: String = "multipart/form-data; boundary=b") throws -> Parameter {
        try MultipartReader.read(bytes(body), contentType: type)
    }

    private func problem(_ body: [UInt8], type: String = "multipart/form-data; boundary=b") -> String? {
        do throws(SerializationError) {
            _ = try MultipartReader.read(body, contentType: type)
            return nil
        } catch {
            return error.description
        }
    }

    /// A form of one part with the given head.
    private func form(_ head: String, _ content: String = "x") -> String {
        "--b\r\n\(head)\r\n\r\n\(content)\r\n--b--\r\n"
    }

    private func field(_ name: String, _ content: String) -> String {
        "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(content)\r\n"
    }

    // MARK: Accepted forms

    @Test(
        arguments: [
            (["a"], ["a": "0"]), (["a[b]", "a[c][]", "a[c][]"], ["a": ["b": "0", "c": ["1", "2"]]]),
            (["s", "s"], ["s": .set(["0", "1"])]), (["a[][x]", "a[][x]"], ["a": [["x": "0"], ["x": "1"]]]),
            ([], [:]), (["a["], ["a[": "0"]), ([""], ["": "0"]),
        ] as [([String], Parameter)])
    func `names nest as in a query`(names: [String], expected: Parameter) throws {
        let body = names.enumerated().map { self.field($1, "\($0)") }.joined() + "--b--\r\n"
        #expect(try self.read(body) == expected)
    }

    @Test func `a part with a file name is a file and one without is text`() throws {
        let body =
            "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/csv; x=\"y;z\"\r\n"
            + "\r\n1,2\r\n\r\n--b\r\ncontent-disposition:FORM-DATA ;name=f;FileName=\"\"\r\n\r\n\r\n"
            + self.field("t", "ä\r\n") + "--b--"
        let expected: Parameter = [
            "f": .set([
                .file(FilePart(bytes("1,2\r\n"), fileName: "a.txt", mediaType: "text/csv; x=\"y;z\"")),
                .file(FilePart([], fileName: "", mediaType: "text/plain")),
            ]), "t": "ä\r\n",
        ]
        #expect(try self.read(body) == expected)
    }

    @Test func `bytes that are no text in their charset stay bytes`() throws {
        let head = bytes("--b\r\nContent-Disposition: form-data; name=n\r\n")
        let tail: [UInt8] = [0xE4] + bytes("\r\n--b--")
        let type = "multipart/form-data; boundary=b"
        let plain = try MultipartReader.read(head + bytes("\r\n") + tail, contentType: type)
        #expect(plain == ["n": .data([0xE4])])
        let typed = head + bytes("Content-Type: text/plain; charset=\"ISO-8859-1\"\r\n\r\n") + tail
        #expect(try MultipartReader.read(typed, contentType: type) == ["n": "ä"])
        let latin = try TextEncoding("iso-8859-1")
        #expect(
            try MultipartReader.read(head + bytes("\r\n") + tail, contentType: type, encoding: latin) == ["n": "ä"])
    }

    @Test func `the part _charset_ names the charset of the others and is no parameter`() throws {
        let fields = bytes("--b\r\nContent-Disposition: form-data; name=\"") + [0xE4] + bytes("\"\r\n\r\n") + [0xE4]
        let body = fields + bytes("\r\n" + self.field("_charset_", "iso-8859-1") + "--b--")
        let type = "multipart/form-data; boundary=b"
        #expect(try MultipartReader.read(body, contentType: type) == ["ä": "ä"])
        #expect(
            self.problem(bytes(self.field("_charset_", "klingon") + "--b--"))
                == "no character encoding is called “klingon”.")
        #expect(
            self.problem(bytes(self.field("_charset_", "utf-8") + self.field("_charset_", "utf-16") + "--b--"))
                == "the form has no clear “_charset_”; send one, with a name.")
    }

    @Test(arguments: [
        (#"form-data; name="a%22b%0D%0Ac""#, "a\"b\r\nc"), (#"form-data; name="a%0d%41%""#, "a%0d%41%"),
        (#"form-data; name="a\""#, #"a\"#), (#"form-data; name="C:\x""#, #"C:\x"#), ("form-data; name=plain", "plain"),
        (#"form-data; name="a;b=c"; x=y;; z="w""#, "a;b=c"), ("form-data; name=\"é\"", "é"),
    ])
    func `names are between quotes as browsers write them`(disposition: String, name: String) throws {
        #expect(
            try self.read(self.form("Content-Disposition: \(disposition)")) == .dictionary([Parameter.Entry(name, "x")])
        )
    }

    @Test(arguments: [
        (#"form-data; name="100\".jpg""#, "100\".jpg"), (#"form-data; name="a\\b\"c""#, #"a\b"c"#),
        (#"form-data; name="a\" ; x="b""#, "a\\"), (#"form-data; name="C:\new\""#, #"C:\new\"#),
        (#"form-data; name="a\"b%22""#, "a\"b\""),
    ])
    func `LOOK-83 names are read with the backslashes of Go and Java`(disposition: String, name: String) throws {
        #expect(
            try self.read(self.form("Content-Disposition: \(disposition)")) == .dictionary([Parameter.Entry(name, "x")])
        )
    }

    @Test func `what stands around the form and behind the boundaries does not count`() throws {
        let body =
            "a preamble\r\n--bc is not it, nor is --b\r\n--b \t\r\nContent-Disposition: form-data; name=n\r\n\r\n"
            + " --b\r\n -- --b\r\n--b-- \t\r\nan epilogue\r\n--b\r\n"
        #expect(throws: SerializationError.self) { try self.read(body) }
        let clear = body.replacing("--bc is not it, nor is --b", with: "nothing")
        #expect(try self.read(clear) == ["n": " --b\r\n -- --b"])
        #expect(try self.read("--b--") == [:])
        #expect(try self.read("\r\n--b--\r\n") == [:])
    }

    @Test(arguments: [
        ("multipart/form-data; boundary=\"a b\"", "a b"), ("Multipart/Form-Data;charset=utf-8;BOUNDARY=b", "b"),
        ("multipart/form-data; boundary=\"'()+_,-./:=?\"", "'()+_,-./:=?"),
        ("multipart/form-data; boundary=\"\\a\"", "a"),
    ])
    func `the boundary is what Content-Type says`(type: String, boundary: String) throws {
        let body = "--\(boundary)\r\nContent-Disposition: form-data; name=n\r\n\r\n1\r\n--\(boundary)--"
        #expect(try self.read(body, type: type) == ["n": "1"])
    }

    @Test(arguments: ["7bit", "8BIT", "binary"]) func `codings that change nothing are accepted`(coding: String) throws
    {
        let head = "Content-Disposition: form-data; name=n\r\nContent-Transfer-Encoding: \(coding)\r\nX-Y: z"
        #expect(try self.read(self.form(head)) == ["n": "x"])
    }

    @Test func `a file name in two spellings is the plain one`() throws {
        let head = "Content-Disposition: form-data; name=n; filename=\"a.txt\"; filename*=utf-8''b.txt"
        #expect(try self.read(self.form(head)) == ["n": .file(FilePart(bytes("x"), fileName: "a.txt"))])
    }

    // MARK: Refused forms

    private static let noBoundary =
        "the Content-Type has no boundary; write it as “multipart/form-data; boundary=…”."
    private static let badBoundary =
        "the boundary in the Content-Type is none; it has 1 to 70 letters, digits and “'()+_,-./:=?”."

    @Test(arguments: [
        ("multipart/form-data", Self.noBoundary), ("multipart/form-data; boundary=", Self.noBoundary),
        ("multipart/form-data; boundary=b; boundary=c", Self.noBoundary),
        ("multipart/form-data; boundary=\"b", Self.noBoundary), ("multipart/form-data; boundary=b c", Self.noBoundary),
        ("multipart/mixed; boundary=b", Self.noBoundary), ("multipart/form-data; boundary=\"b \"", Self.badBoundary),
        ("multipart/form-data; boundary=\"\"", Self.badBoundary),
        ("multipart/form-data; boundary=b!", Self.badBoundary),
        ("multipart/form-data; boundary=\(String(repeating: "b", count: 71))", Self.badBoundary),
    ])
    func `a Content-Type without a boundary that can be one is refused`(type: String, problem: String) {
        #expect(self.problem(bytes(self.form("Content-Disposition: form-data; name=n")), type: type) == problem)
    }

    private static let unfinished = "the form ends before its last boundary; send it whole."
    private static let unclear =
        "the form has a line that begins with the boundary and goes on; choose a boundary that no part has."
    private static let absent = "the form does not have its boundary; name the one that it has in Content-Type."

    @Test(arguments: [
        ("hello", Self.absent), ("--c--", Self.absent), ("x--b--", Self.absent), ("\n--b--", Self.absent),
        ("--b", Self.unfinished), ("--b ", Self.unfinished), ("--b\r\n", Self.unfinished), ("--bb\r\n", Self.unclear),
        ("--b\n", Self.unclear), ("--b- -", Self.unclear), ("--b--x", Self.unclear), ("--b-- \n", Self.unclear),
        ("--b\r\nContent-Disposition: form-data; name=n\r\n\r\nx\r\n--b", Self.unfinished),
        ("--b\r\nContent-Disposition: form-data; name=n\r\n\r\nx\n--b--", Self.unfinished),
        ("--b\r\nContent-Disposition: form-data; name=n\r\n\r\nx\r\n--bx\r\n--b--", Self.unclear),
    ])
    func `boundaries that are missing or unclear are refused`(body: String, problem: String) {
        #expect(self.problem(bytes(body)) == problem)
    }

    private static let noDisposition =
        "has no Content-Disposition that can be read; write “form-data; name=\"…\"”, a quote as %22."
    private static let noType = "has a Content-Type that cannot be read; write “type/subtype; charset=…”."
    private static let coding = "has a Content-Transfer-Encoding, which forms do not; send its bytes as they are."

    @Test(arguments: [
        ("X: y", Self.noDisposition), ("Content-Disposition: attachment; name=n", Self.noDisposition),
        ("Content-Disposition: form-data; name=\"a\"b\"", Self.noDisposition),
        ("Content-Disposition: form-data; name=a; name=b", Self.noDisposition),
        ("Content-Disposition: form-data; name=\"a", Self.noDisposition),
        ("Content-Disposition: form-data", "has no name; write “form-data; name=\"…\"”."),
        ("Content-Disposition: form-data; name*=utf-8''a", "has no name; write “form-data; name=\"…\"”."),
        (
            "Content-Disposition: form-data; name=a; filename*=utf-8''b",
            "has filename*, which forms do not (RFC 7578 §4.2); write “filename=\"…\"”."
        ),
        (
            "Content-Disposition: form-data; name=a\r\ncontent-disposition: form-data; name=b",
            "has Content-Disposition twice; send it once."
        ),
        (
            "Content-Disposition: form-data; name=a\r\nContent-Type: a/b\r\nContent-Type: a/b",
            "has Content-Type twice; send it once."
        ),
        ("Content-Disposition: form-data; name=a\r\nContent-Type: a/b; c", Self.noType),
        ("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64", Self.coding),
        ("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding:", Self.coding),
        (
            "Content-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed; boundary=c",
            "has parts of its own; send each as a part of the form (RFC 7578 §4.3)."
        ),
        (
            "Content-Disposition : form-data; name=a",
            "has a line that is no field: a field name is not a token directly before its colon; write “Name: value”."
        ),
        (
            "X: y\r\n Content-Disposition: form-data; name=a",
            "has a line that is no field: a field line begins with white space (obsolete folding); write “Name: value”."
        ),
        (
            "Content-Disposition: form-data; name=\"a\u{0}\"",
            "has a line that is no field: a field value has a control byte; write “Name: value”."
        ),
    ])
    func `a part whose fields do not say what it is is refused`(head: String, problem: String) {
        #expect(self.problem(bytes(self.form(head))) == "part 1 of the form \(problem)")
    }

    @Test func `the part is told by its number`() {
        let bare = "has no Content-Disposition; give it one with a name."
        let open = "has no empty line after its fields; end each line with CR and LF."
        let good = self.field("n", "1")
        #expect(self.problem(bytes("--b\r\n\r\nx\r\n--b--")) == "part 1 of the form \(bare)")
        #expect(self.problem(bytes("\(good)--b\r\n--b--")) == "part 2 of the form \(open)")
        #expect(self.problem(bytes("\(good)\(good)--b\r\nX: y\n\nz\r\n--b--")) == "part 3 of the form \(open)")
        let type = "Content-Type: text/plain; charset=klingon\r\n\r\n"
        #expect(
            self.problem(bytes("--b\r\nContent-Disposition: form-data; name=n\r\n\(type)x\r\n--b--"))
                == "no character encoding is called “klingon”.")
        #expect(
            self.problem(
                bytes("\(good)--b\r\nContent-Disposition: form-data; name=\"") + [0xFF] + bytes("\"\r\n\r\n\r\n--b--"))
                == "part 2 of the form has a name that is not text; write it in UTF-8.")
    }

    @Test func `parts and heads have limits`() throws {
        let field = self.field("a[]", "")
        let thousand = String(repeating: field, count: 1000)
        guard case .array(let elements) = try self.read("\(thousand)--b--")["a"] else {
            Issue.record("no array")
            return
        }
        #expect(elements.count == 1000)
        #expect(
            self.problem(bytes("\(thousand)\(field)--b--")) == "the form has more than 1000 parts; send fewer.")
        let disposition = "Content-Disposition: form-data; name=n\r\nX: "
        let longest = disposition + String(repeating: "y", count: 16 * 1024 - disposition.utf8.count)
        #expect(try self.read(self.form(longest)) == ["n": "x"])
        #expect(
            self.problem(bytes(self.form(longest + "y")))
                == "part 1 of the form has a head of more than 16384 bytes; send shorter fields.")
        let deep = "a" + String(repeating: "[b]", count: 65)
        #expect(
            self.problem(bytes(self.field(deep, "") + "--b--"))
                == "the form has names with over 64 brackets; nest less deeply.")
    }

    @Test func `lines that nearly are boundaries take linear time`() throws {
        let boundary = String(repeating: "b", count: 70)
        let near = "\r\n--" + String(repeating: "b", count: 69)
        let content = String(repeating: near, count: 50_000) + String(repeating: "\r", count: 1_000_000)
        let body = "--\(boundary)\r\nContent-Disposition: form-data; name=n\r\n\r\n\(content)\r\n--\(boundary)--"
        #expect(try self.read(body, type: "multipart/form-data; boundary=\(boundary)") == ["n": .string(content)])
    }
}
