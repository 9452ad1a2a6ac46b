// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct IncomingParametersTests {
    private static let formType = "application/x-www-form-urlencoded"

    private func form(_ text: String, type: String = Self.formType) throws -> Parameter? {
        try IncomingParameters.read(request("POST", "/", ["Content-Type": type]), body: bytes(text))
    }

    @Test(
        arguments: [
            ("a=1&b=2", ["a": "1", "b": "2"]), ("a", ["a": .null]), ("a=", ["a": ""]), ("a=b=c", ["a": "b=c"]),
            ("a+b=c+d%2B", ["a b": "c d+"]), ("&&a=1&", ["a": "1"]), ("a[b]=1", ["a": ["b": "1"]]),
            ("a%5Bb%5D%5B%5D=1&a%5Bb%5D%5B%5D=2", ["a": ["b": ["1", "2"]]]), ("a[]=1&a[]=2", ["a": ["1", "2"]]),
            ("a[][x]=2&a[][y]=1&a[][x]=3", ["a": [["x": "2", "y": "1"], ["x": "3"]]]),
            ("a[][x][y]=1&a[][x][z]=2&a[][x][y]=3", ["a": [["x": ["y": "1", "z": "2"]], ["x": ["y": "3"]]]]),
            ("a[][x][]=1&a[][x][]=2", ["a": [["x": ["1", "2"]]]]), ("a[][]=1&a[][]=2", ["a": [["1", "2"]]]),
            ("s=b&s=a", ["s": .set(["b", "a"])]), ("s=1&s=2&s=3", ["s": .set(["1", "2", "3"])]),
            ("=payload", ["": "payload"]),
            ("[]=1", ["[]": "1"]), ("a[=1", ["a[": "1"]), ("a[b]c=1", ["a[b]c": "1"]), ("a[[b]]=1", ["a[[b]]": "1"]),
            ("%C3%A4=%F0%9F%98%80", ["ä": "😀"]), ("a[]", ["a": [.null]]),
        ] as [(String, Parameter)])
    func `a form is read as it was nested`(text: String, expected: Parameter) throws {
        #expect(try self.form(text) == expected)
    }

    @Test(arguments: [
        "a=%", "a=%zz", "a=%FF", "%C3=%A4", "a=%C3&%A4=b", "%ED%A0%80=1", "a=1&a[b]=2", "a[b]=1&a=2", "a[]=1&a[b]=2",
        "a[b]=1&a[]=2",
    ])
    func `a broken form is an error`(text: String) {
        let error = #expect(throws: SerializationError.self) { try self.form(text) }
        #expect(error?.code == .malformedBody)
    }

    @Test(arguments: [
        ["Content-Type": "text/\(String(repeating: "y", count: 15_000))"],
        ["Content-Type": "\(Self.formType);charset=\(String(repeating: "y", count: 15_000))"],
        ["Content-Type": Self.formType, "Content-Encoding": String(repeating: "y", count: 15_000)],
    ])
    func `what is quoted of a head is cut`(fields: Fields) {
        let error = #expect(throws: SerializationError.self) {
            try IncomingParameters.read(request("POST", "/", fields), body: bytes("a=1"))
        }
        #expect(
            (error?.message.count ?? 0) < 200 && error?.message.contains("yyy…") == true,
            "\(error.debugDescription.prefix(300))")
    }

    @Test func `a name has at most 64 brackets`() throws {
        _ = try self.form("a" + String(repeating: "[b]", count: 64))
        #expect(throws: SerializationError.self) { try self.form("a" + String(repeating: "[b]", count: 65)) }
        #expect(throws: SerializationError.self) { try self.form("a" + String(repeating: "[]", count: 100_000)) }
    }

    @Test func `names are told apart by their bytes`() throws {
        guard case .dictionary(let entries) = try self.form("%C3%A9=1&e%CC%81=2") else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries.map { Array($0.key.utf8) } == [[0xC3, 0xA9], [0x65, 0xCC, 0x81]])
    }

    @Test(.timeLimit(.minutes(15))) func `a long form takes linear time`() throws {
        let distinct = (0..<50_000).map { "k\($0)=\($0)" }.joined(separator: "&")
        let repeated = (0..<50_000).map { "a[]=\($0)&s=\($0)" }.joined(separator: "&")
        guard case .dictionary(let entries) = try self.form(distinct + "&" + repeated) else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries.count == 50_002)
    }

    @Test func `a form that is written again has the same bytes`() throws {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<500 {
            // Brackets in names would be read as nesting, and empty containers are not written at all.
            let parameter: Parameter = [
                "a": .string(RandomParameter.string(&random)), "l": [.string(RandomParameter.string(&random)), .null],
                "n": [["x": [.string(RandomParameter.string(&random))], "y": 1], ["x": ["k": true]]],
            ]
            let query = try QueryString.encode(parameter)
            let read = try #require(try self.form(query))
            #expect(try QueryString.encode(read) == query)
        }
    }

    @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "text/json", "application/vnd.api+json"])
    func `JSON is read`(type: String) throws {
        let head = request("POST", "/", ["Content-Type": type])
        #expect(try IncomingParameters.read(head, body: bytes(#"{"b":1,"a":[true]}"#)) == ["b": 1, "a": [true]])
        let error = #expect(throws: SerializationError.self) { try IncomingParameters.read(head, body: bytes("[1,]")) }
        #expect(
            error?.description
                == "the body is not valid JSON. (line 1, column 4 (byte 3): expected a value, found “]”)")
        #expect(throws: SerializationError.self) { try IncomingParameters.read(head, body: bytes("1")) }
    }

    @Test func `property lists are read with sorted keys and exact numbers`() throws {
        let head = request("POST", "/", ["Content-Type": "application/x-plist"])
        let value: Parameter = [
            "b": .date(86400), "a": [.data([1]), .decimal("18446744073709551615"), 1.5], "ä": true, "Z": "",
        ]
        let sorted: Parameter = [
            "Z": "", "a": [.data([1]), .decimal("18446744073709551615"), 1.5], "b": .date(86400), "ä": true,
        ]
        for format in [PropertyListWriter.Format.xml, .binary] {
            #expect(
                try IncomingParameters.read(head, body: try PropertyListWriter.write(value, format: format)) == sorted)
        }
        let error = #expect(throws: SerializationError.self) { try IncomingParameters.read(head, body: bytes("<a/>")) }
        #expect(
            error?.description
                == "the body is no property list. (the document has something that no property list has)")
    }

    @Test func `multipart is read and a route's text may stand in the place of a file`() throws {
        let form = "--b\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n1\r\n--b--"
        let head = request("POST", "/", ["Content-Type": "multipart/form-data; boundary=b"])
        let read = try IncomingParameters.read(head, body: bytes(form))
        #expect(read == ["f": .file(FilePart(bytes("1"), fileName: "x", mediaType: "text/plain"))])
        #expect(try IncomingParameters.merge(read, with: ["f": "none"]) == ["f": "none"])
        let error = SerializationError(
            .unserializable, "a file has no form in JSON; only multipart carries files.", path: "parameters.f")
        #expect(throws: error) { try JSONWriter.write(try #require(read)) }
    }

    @Test func `numbers beyond a Double reach the next form as they were`() throws {
        let head = request("POST", "/", ["Content-Type": "application/json"])
        let read = try #require(
            try IncomingParameters.read(head, body: bytes(#"{"n":1e400,"m":0.1000000000000000000001}"#)))
        #expect(try QueryString.encode(read) == "m=0.1000000000000000000001&n=1e400")
    }

    @Test func `an empty body has no parameters whatever its type`() throws {
        #expect(try IncomingParameters.read(request("POST", "/", ["Content-Type": "a/b"]), body: []) == nil)
        #expect(try IncomingParameters.read(request("GET"), body: []) == nil)
    }

    @Test(
        arguments: [
            ([:], "the body has no Content-Type; say what it is."),
            (
                ["Content-Type": "text/xml; a=b"],
                "the body is text/xml; parameters can be merged only into forms, JSON and property lists."
            ),
            (
                ["Content-Type": "application/json", "content-type": "text/json"],
                "the body has two Content-Types; send one."
            ),
            (
                ["Content-Type": "application/json", "Content-Encoding": "identity, GZIP"],
                "the body is encoded with gzip; parameters can be merged only into plain bodies."
            ),
        ] as [(Fields, String)])
    func `other bodies are refused`(fields: Fields, message: String) {
        #expect(throws: SerializationError(.unsupportedBody, message)) {
            try IncomingParameters.read(request("POST", "/", fields), body: bytes("{}"))
        }
    }

    @Test func `a form is read in its charset`() throws {
        #expect(try self.form("a=%E4", type: "\(Self.formType); charset=ISO-8859-1") == ["a": "ä"])
        #expect(try self.form("a=%E4", type: "\(Self.formType);Charset=\"windows-1252\"") == ["a": "ä"])
        let latin = try TextEncoding("iso-8859-1")
        let head = request("POST", "/", ["Content-Type": Self.formType])
        #expect(try IncomingParameters.read(head, body: bytes("a=%E4"), encoding: latin) == ["a": "ä"])
        for (charset, code) in [("utf-16", SerializationError.Code.unsupportedBody), ("klingon", .unknownEncoding)] {
            let error = #expect(throws: SerializationError.self) {
                try self.form("a=1", type: "\(Self.formType); charset=\(charset)")
            }
            #expect(error?.code == code)
        }
    }

    @Test func `the route's value stands in the place of the incoming one`() throws {
        let merged = try IncomingParameters.merge(
            ["a": 1, "b": ["x": 1], "c": 3, "b": 4], with: ["z": 0, "b": ["y": 2], "d": 5])
        #expect(merged == ["a": 1, "b": ["y": 2], "c": 3, "z": 0, "d": 5])
    }

    @Test func `one side alone is the result and lists do not merge`() throws {
        #expect(try IncomingParameters.merge(nil, with: nil) == nil)
        #expect(try IncomingParameters.merge([1], with: nil) == [1])
        #expect(try IncomingParameters.merge(nil, with: [1]) == [1])
        for (incoming, route) in [([1], ["a": 1]), (["a": 1], [1])] as [(Parameter, Parameter)] {
            let error = #expect(throws: SerializationError.self) {
                try IncomingParameters.merge(incoming, with: route)
            }
            #expect(error?.code == .unmergeable)
        }
    }

    @Test func `a form can become JSON`() throws {
        let head = request("POST", "/", ["Content-Type": Self.formType, "X-A": "1", "Content-MD5": "x"])
        let merged = try IncomingParameters.merge(
            try IncomingParameters.read(head, body: bytes("b=2&a[]=1")), with: ["source": "pintle"])
        let result = try JSONRequestSerializer().serialize(IncomingParameters.headForNewBody(head), parameters: merged)
        #expect(text(result.body) == #"{"b":"2","a":["1"],"source":"pintle"}"#)
        #expect(result.head.fields == ["X-A": "1", "Content-Type": "application/json"])
    }
}
