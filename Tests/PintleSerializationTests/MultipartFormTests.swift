// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct MultipartFormTests {
    private let boundary = "Boundary+0123456789ABCDEF"
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// The whole body of a form that has no streams; files are written out as `‹path length›`.
    private func body(_ form: MultipartForm) -> String {
        form.segments.map { segment in
            switch segment {
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            case .file(let path, let length): "‹\(path) \(length)›"
            case .stream: "‹stream›"
            }
        }.joined()
    }

    private func names(_ form: MultipartForm) -> [String?] { form.parts.map { $0.fields["Content-Disposition"] } }

    @Test func `MPF-01 a certificate file has its type`() throws {
        let path = try self.folder.write("x", to: "root.cer")
        var form = MultipartForm()
        try form.append(name: "ca", file: path)
        #expect(form.parts[0].fields["Content-Type"] == "application/x-x509-ca-cert")
        #expect(form.parts[0].fields["Content-Disposition"] == #"form-data; name="ca"; filename="root.cer""#)
    }

    @Test(arguments: [
        ("data", "application/octet-stream"), ("data.unheard-of", "application/octet-stream"),
        ("data.", "application/octet-stream"), ("a.tar.GZ", "application/gzip"), ("page.HTML", "text/html"),
    ]) func `MPF-02 an unknown or missing extension is plain bytes`(name: String, type: String) throws {
        var form = MultipartForm()
        try form.append(name: "n", file: try self.folder.write("x", to: name))
        #expect(form.parts[0].fields["Content-Type"] == type)
    }

    @Test func `MPF-03 a single field has opening and closing boundary`() {
        var form = MultipartForm(boundary: self.boundary)
        form.append(name: "key", text: "value")
        #expect(
            self.body(form) == "--Boundary+0123456789ABCDEF\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\n"
                + "value\r\n--Boundary+0123456789ABCDEF--\r\n")
        #expect(form.contentLength == 113)
        #expect(form.contentType == "multipart/form-data; boundary=Boundary+0123456789ABCDEF")
    }

    @Test func `MPF-04 a second part begins with a line end`() throws {
        var form = MultipartForm(boundary: self.boundary)
        form.append(name: "key", text: "value")
        try form.append(name: "DataName", bytes: bytes("Data"), fileName: "DataFileName", type: "data")
        #expect(form.contentLength == 244)
        #expect(
            self.body(form).contains(
                "value\r\n--Boundary+0123456789ABCDEF\r\nContent-Disposition: form-data; name=\"DataName\"; "
                    + "filename=\"DataFileName\"\r\nContent-Type: data\r\n\r\nData\r\n--Boundary"))
    }

    @Test func `MPF-05 MPF-07 parameters come first in the order of a query, with plain brackets`() throws {
        var form = try MultipartForm(parameters: ["b": [1, 2], "a": ["ä b": 1]])
        form.append(name: "z", text: "")
        form.append(name: "y", text: "")
        let expected = ["a[ä b]", "b[]", "b[]", "z", "y"].map { #"form-data; name="\#($0)""# }
        #expect(self.names(form) == expected)
    }

    @Test func `MPF-08 null is an empty part, bytes stay bytes and the rest is text`() throws {
        let form = try MultipartForm(
            parameters: ["a": .null, "b": .data([0, 255]), "c": true, "d": 1.5, "e": .decimal("1e400")])
        let contents = form.parts.map { part -> [UInt8]? in
            guard case .bytes(let content) = part.content else { return nil }
            return content
        }
        #expect(contents == [[], [0, 255], bytes("1"), bytes("1.5"), bytes("1e400")])
        #expect(try MultipartForm(parameters: nil).parts.isEmpty)
        #expect(throws: SerializationError.self) { try MultipartForm(parameters: [1]) }
    }

    @Test func `MPF-10 a boundary is random and needs no quotes`() throws {
        let boundaries = (0..<100).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == 100)
        for boundary in boundaries {
            #expect(boundary.utf8.count == 39)
            #expect(boundary.hasPrefix("pintle-"))
            #expect(boundary.dropFirst(7).allSatisfy { $0.isHexDigit })
        }
        #expect(try #require(boundaries.first).utf8.allSatisfy(ASCII.isTokenByte))
    }

    @Test func `MPF-11 quotes and line ends in names are escaped and nothing else is`() throws {
        var form = MultipartForm()
        try form.append(name: "a\"\r\nX: y", bytes: [], fileName: "50%22\\ü\n\".txt", type: "text/plain")
        #expect(
            form.parts[0].fields["Content-Disposition"]
                == #"form-data; name="a%22%0D%0AX: y"; filename="50%22\ü%0A%22.txt""#)
        #expect(!self.body(form).contains("\nX: y"))
    }

    @Test(arguments: ["a\r\nb", "a\u{0}", "", " a"]) func `types that may stand in no field are refused`(type: String) {
        var form = MultipartForm()
        let stream = MultipartForm.Stream(length: 1) { Pieces([]) }
        #expect(throws: SerializationError.self) {
            try form.append(name: "n", bytes: [], fileName: "f", type: type)
        }
        #expect(throws: SerializationError.self) {
            try form.append(name: "n", stream: stream, fileName: "f", type: type)
        }
        #expect(throws: SerializationError.self) { try form.append(fields: ["X": "a\nb"], bytes: []) }
        #expect(throws: SerializationError.self) { try form.append(fields: ["X Y": "a"], bytes: []) }
        #expect(form.parts.isEmpty)
    }

    @Test func `given fields are all that a part has`() throws {
        var form = MultipartForm(boundary: "b")
        try form.append(fields: ["Content-ID": "<1>", "X": "y"], bytes: bytes("z"))
        #expect(self.body(form) == "--b\r\nContent-ID: <1>\r\nX: y\r\n\r\nz\r\n--b--\r\n")
    }

    @Test func `MPF-13 MPF-14 what is no readable file is an error that names it and adds nothing`() throws {
        var form = MultipartForm()
        let missing = "\(self.folder.path)/missing"
        let error = SerializationError(
            .unreadableFile, "there is no such file, or a folder above it may not be entered.", path: missing)
        #expect(throws: error) { try form.append(name: "n", file: missing) }
        for path in [self.folder.path, "/dev/null"] {
            let error = SerializationError(.unreadableFile, "this is no regular file.", path: path)
            #expect(throws: error) { try form.append(name: "n", file: path) }
        }
        let good = try self.folder.write("x", to: "good")
        #expect(throws: SerializationError.self) { try form.append(name: "n", file: good, type: "\n") }
        #expect(form.parts.isEmpty)
        #expect(form.segments.isEmpty)
        #expect(form.contentLength == 0)
    }

    @Test func `MPF-15 a file counts with the length that it had and a stream with its promise`() throws {
        let path = try self.folder.write("12345", to: "five.bin")
        var form = MultipartForm(boundary: "b")
        try form.append(name: "n", file: path, fileName: "other", type: "a/b")
        try self.folder.write("12345678", to: "five.bin")
        let head = "--b\r\nContent-Disposition: form-data; name=\"n\"; filename=\"other\"\r\nContent-Type: a/b\r\n\r\n"
        #expect(self.body(form) == "\(head)‹\(path) 5›\r\n--b--\r\n")
        let length = try #require(form.contentLength)
        #expect(length == UInt64(head.utf8.count) + 5 + 9)
        try form.append(name: "s", stream: .init(length: 1000) { Pieces([]) }, fileName: "f")
        let streamHead =
            "\r\n--b\r\nContent-Disposition: form-data; name=\"s\"; filename=\"f\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n"
        #expect(form.contentLength == length + UInt64(streamHead.utf8.count) + 1000)
        try form.append(name: "u", stream: .init(length: nil) { Pieces([]) }, fileName: "f")
        #expect(form.contentLength == nil)
    }

    @Test func `lengths beyond every number are unknown`() throws {
        var form = MultipartForm()
        try form.append(name: "s", stream: .init(length: .max) { Pieces([]) }, fileName: "f")
        #expect(form.contentLength == nil)
    }

    @Test func `a link counts as the file behind it`() throws {
        let path = try self.folder.link("link.txt", to: try self.folder.write("12345", to: "five.bin"))
        var form = MultipartForm(boundary: "b")
        try form.append(name: "n", file: path)
        #expect(self.body(form).contains("filename=\"link.txt\"\r\nContent-Type: text/plain\r\n\r\n‹\(path) 5›"))
    }

    @Test func `MPF-20 only the text of parameters is in the chosen encoding`() throws {
        let form = try MultipartForm(parameters: ["ä": "ö"], encoding: try TextEncoding("iso-8859-1"))
        #expect(form.parts[0].fields["Content-Disposition"] == #"form-data; name="ä""#)
        guard case .bytes(let content) = form.parts[0].content else {
            Issue.record("no bytes")
            return
        }
        #expect(content == [0xF6])
        let error = SerializationError(
            .unencodable, "the text has characters that iso-8859-1 lacks.", path: "parameters.a.b")
        #expect(throws: error) {
            try MultipartForm(parameters: ["a": ["b": "中"]], encoding: try TextEncoding("iso-8859-1"))
        }
    }

    @Test func `MPS-11 a part without bytes is a part`() {
        var form = MultipartForm(boundary: "b")
        form.append(name: "n", bytes: [])
        #expect(self.body(form) == "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n\r\n--b--\r\n")
    }

    @Test func `MPS-08 MPS-09 a copy has the same boundary and opens its streams anew`() async throws {
        var form = MultipartForm()
        try form.append(name: "s", stream: .init(length: 3) { Pieces([[1], [2, 3]]) }, fileName: "f")
        let copy = form
        form.append(name: "later", text: "")
        #expect(copy.boundary == form.boundary)
        #expect(copy.parts.count == 1)
        for form in [form, copy] {
            guard case .stream(let stream) = form.parts[0].content else {
                Issue.record("no stream")
                continue
            }
            var read: [UInt8] = []
            for try await piece in try stream.open() { read += piece }
            #expect(read == [1, 2, 3])
        }
    }
}

/// Pieces of bytes that come one by one.
private struct Pieces: AsyncSequence {
    typealias Element = [UInt8]
    typealias Failure = any Error

    private let pieces: [[UInt8]]

    init(_ pieces: [[UInt8]]) { self.pieces = pieces }

    func makeAsyncIterator() -> Iterator { Iterator(rest: self.pieces[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<[UInt8]>

        mutating func next() async throws -> [UInt8]? { self.rest.popFirst() }
    }
}

extension TemporaryFolder {
    fileprivate func link(_ name: String, to target: String) throws -> String {
        let child = try ChildProcess("/bin/ln", ["-s", target, "\(self.path)/\(name)"])
        #expect(try child.waitForExit() == 0)
        return "\(self.path)/\(name)"
    }
}
