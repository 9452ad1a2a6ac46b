// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct QueryStringTests {
    @Test(
        arguments: [
            (["key": "value", "key1": "value&"], "key=value&key1=value%26")
        ] as [(Parameter, String)])
    func `QRY-01 pairs are escaped and joined`(parameter: Parameter, query: String) throws {
        #expect(try QueryString.encode(parameter) == query)
    }

    @Test func `QRY-02 a block replaces the query`() throws {
        var serializer = HTTPRequestSerializer()
        serializer.queryBlock = { (_, parameters) throws(SerializationError) -> String? in
            guard case .dictionary(let entries) = parameters else { return nil }
            return entries.map { "\($0.key)**\($0.value.text ?? "")" }.joined()
        }
        let result = try serializer.serialize(request("GET", "/p"), parameters: ["key": "value"])
        #expect(result.head.target == .origin(path: "/p?key**value"))
    }

    @Test func `QRY-03 an array repeats its key with brackets`() throws {
        #expect(
            try QueryString.encode(["foo": "bar", "baz": [1, 2, 3]])
                == "baz%5B%5D=1&baz%5B%5D=2&baz%5B%5D=3&foo=bar")
    }

    @Test func `QRY-04 an array in a dictionary has both names`() throws {
        #expect(
            try QueryString.encode(["key1": "value1", "key2": ["key": [1, "value"]]])
                == "key1=value1&key2%5Bkey%5D%5B%5D=1&key2%5Bkey%5D%5B%5D=value")
    }

    @Test func `QRY-05 containers of every kind mix`() throws {
        let parameter: Parameter = [
            "name": "bang", "phone": ["mobile": "xx", "home": "xx"], "families": ["father", "mother"],
            "nums": .set([1, 2]),
        ]
        #expect(
            try QueryString.encode(parameter)
                == "families%5B%5D=father&families%5B%5D=mother&name=bang&nums=1&nums=2"
                + "&phone%5Bhome%5D=xx&phone%5Bmobile%5D=xx")
    }

    @Test func `QRY-06 keys sort by case`() throws {
        #expect(try QueryString.encode(["b": 1, "A": 2, "a": 3]) == "A=2&a=3&b=1")
        // U+FF5E is one unit above the surrogates that U+1F600 begins with.
        #expect(try QueryString.encode(["\u{FF5E}": 1, "\u{1F600}": 2]) == "%F0%9F%98%80=2&%EF%BD%9E=1")
    }

    @Test(
        arguments: [
            (["a": [["y": 1, "x": 2], ["x": 3]]], "a%5B%5D%5Bx%5D=2&a%5B%5D%5By%5D=1&a%5B%5D%5Bx%5D=3")
        ] as [(Parameter, String)])
    func `QRY-07 dictionaries in an array`(parameter: Parameter, query: String) throws {
        #expect(try QueryString.encode(parameter) == query)
    }

    @Test func `QRY-08 arrays in an array`() throws {
        #expect(
            try QueryString.encode(["a": [[1, 2], [3]]]) == "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3")
    }

    @Test func `QRY-09 a set sorts its members and keeps its name`() throws {
        #expect(try QueryString.encode(["s": .set(["b", "a"])]) == "s=a&s=b")
        #expect(try QueryString.encode(["s": .set([9, 10, ["k": 1]])]) == "s=10&s=9&s%5Bk%5D=1")
    }

    @Test(
        arguments: [
            (["a": .null], "a"), (["a": ["b": .null]], "a%5Bb%5D"), (["a": [.null, 1]], "a%5B%5D&a%5B%5D=1"),
        ] as [(Parameter, String)])
    func `QRY-10 null is a name without a value`(parameter: Parameter, query: String) throws {
        #expect(try QueryString.encode(parameter) == query)
    }

    @Test func `QRY-11 empty text is an empty value`() throws {
        #expect(try QueryString.encode(["a": ""]) == "a=")
    }

    @Test(
        arguments: [
            (["a": [], "b": 1], "b=1"), (["a": .dictionary([]), "b": 1], "b=1"), (.dictionary([]), ""), (.null, ""),
        ] as [(Parameter, String)])
    func `QRY-12 empty containers vanish`(parameter: Parameter, query: String) throws {
        #expect(try QueryString.encode(parameter) == query)
    }

    @Test(
        arguments: [
            (["a": true, "b": false], "a=1&b=0"), (["1": "x"], "1=x"), (["n": 1.5], "n=1.5"), (["n": 2.0], "n=2"),
            (["n": .decimal("1e400")], "n=1e400"), (["n": -7], "n=-7"),
        ] as [(Parameter, String)])
    func `QRY-13 booleans and numbers have a plain text`(parameter: Parameter, query: String) throws {
        #expect(try QueryString.encode(parameter) == query)
    }

    @Test func `QRY-14 text at the top has an empty name`() throws {
        #expect(try QueryString.encode("payload") == "=payload")
    }

    @Test(arguments: [["a", "b"], .set(["a", "b"]), []] as [Parameter])
    func `QRY-15 a list at the top is an error`(parameter: Parameter) {
        let error = SerializationError(
            .unserializable, "a list has no name at the top of a query; put it into a dictionary.",
            path: "parameters")
        #expect(throws: error) { try QueryString.encode(parameter) }
    }

    @Test func `QRY-16 bytes are an error in a query and pairs keep them for multipart`() throws {
        let parameter: Parameter = ["a": ["file": .data([1, 2])]]
        let error = SerializationError(
            .unserializable, "bytes have no form in a query; only multipart carries them.",
            path: "parameters.a.file")
        #expect(throws: error) { try QueryString.encode(parameter) }
        #expect(try QueryString.pairs(of: parameter) == [QueryString.Pair("a[file]", .data([1, 2]))])
    }

    @Test(
        arguments: [
            (["a": [0, ["b": .date(1)]]], "parameters.a[1].b: a date has no form in a query; write text or a number."),
            (
                ["a": .set([1, .file(FilePart([], fileName: ""))])],
                "parameters.a[1]: a file has no form in a query; only multipart carries files."
            ),
        ] as [(Parameter, String)])
    func `dates and files are errors in a query`(parameter: Parameter, message: String) {
        let error = #expect(throws: SerializationError.self) { try QueryString.encode(parameter) }
        #expect(error?.description == message)
    }

    @Test func `sets within sets do not double the work at each level`() throws {
        var parameter: Parameter = "x"
        for _ in 0..<500 { parameter = .set([parameter, "y"]) }
        #expect(try QueryString.pairs(of: ["k": parameter]).count == 501)
    }

    @Test func `nesting has a limit`() throws {
        var parameter: Parameter = 1
        for _ in 0..<512 { parameter = ["k": parameter] }
        #expect(try QueryString.pairs(of: parameter).count == 1)
        #expect(throws: SerializationError.self) { try QueryString.pairs(of: ["k": parameter]) }
    }

    @Test func `one long name around many values has a limit`() throws {
        let key = String(repeating: "k", count: 1 << 20)
        func list(_ count: Int) -> Parameter { [key: .array(Array(repeating: .null, count: count))] }
        #expect(try QueryString.pairs(of: list(30)).count == 30)
        let error = SerializationError(
            .unserializable, "the names in it are more than 32 MiB; use shorter keys, or nest less deeply.",
            path: "parameters")
        for parameter in [list(40), [key: .set(Array(repeating: 1, count: 40))], [key: list(1_000_000)]] as [Parameter]
        {
            #expect(throws: error) { try QueryString.encode(parameter) }
            #expect(throws: error) { try MultipartForm(parameters: parameter) }
        }
    }
}
