// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct JSONRequestSerializerTests {
    let serializer = JSONRequestSerializer()

    @Test(
        arguments: [
            (["key": "value"], #"{"key":"value"}"#),
            (["b": 1, "a": [true, .null, 1.5]], #"{"b":1,"a":[true,null,1.5]}"#),
            (["a": .dictionary([]), "b": []], #"{"a":{},"b":[]}"#),
        ] as [(Parameter, String)])
    func `JRQ-01 a dictionary is the body`(parameter: Parameter, body: String) throws {
        let result = try self.serializer.serialize(request("POST"), parameters: parameter)
        #expect(text(result.body) == body)
        #expect(result.head.fields == ["Content-Type": "application/json"])
    }

    @Test func `JRQ-02 an array is the body`() throws {
        let result = try self.serializer.serialize(request("POST"), parameters: [["key": "value"]])
        #expect(text(result.body) == #"[{"key":"value"}]"#)
    }

    @Test(
        arguments: [
            (["key": .set(["value"])], "parameters.key: a set has no form in JSON; write an array."),
            (["a": [1, .data([0])]], "parameters.a[1]: bytes have no form in JSON."),
            (["a": [1, ["b": .date(0)]]], "parameters.a[1].b: a date has no form in JSON; write text or a number."),
            (
                [.file(FilePart([], fileName: "f"))],
                "parameters[0]: a file has no form in JSON; only multipart carries files."
            ),
            (
                .dictionary([.init(String(repeating: "é", count: 70), .data([]))]),
                "parameters[\"\(String(repeating: "é", count: 64))…\"]: bytes have no form in JSON."
            ),
        ] as [(Parameter, String)])
    func `JRQ-03 sets and bytes are errors`(parameter: Parameter, message: String) {
        let error = #expect(throws: SerializationError.self) {
            try self.serializer.serialize(request("POST"), parameters: parameter)
        }
        #expect(error?.code == .unserializable)
        #expect(error?.description == message)
    }

    @Test func `JRQ-04 half a surrogate pair is refused where text comes in`() {
        #expect(throws: JSONSyntaxError.self) { try JSONScanner().parse(bytes(#"{"key":"\ud800"}"#)) }
    }

    @Test(arguments: ["GET", "HEAD", "DELETE"])
    func `JRQ-05 methods of the URI set have a query and no body`(method: String) throws {
        let result = try self.serializer.serialize(request(method, "/p"), parameters: ["a": [1]])
        #expect(result == SerializedRequest(head: request(method, "/p?a%5B%5D=1"), body: nil))
    }

    @Test func `JRQ-06 without parameters there is no body and no type`() throws {
        let result = try self.serializer.serialize(request("POST"), parameters: nil)
        #expect(result == SerializedRequest(head: request("POST"), body: nil))
    }

    @Test func `JRQ-07 default fields are added and a Content-Type that is there stays`() throws {
        var serializer = self.serializer
        serializer.writingOptions = .sortedKeys
        try serializer.http.setField("X-A", to: "1")
        let copy = serializer
        let head = request("PUT", "/", ["Content-Type": "application/vnd.api+json"])
        let result = try copy.serialize(head, parameters: ["b": 1, "a": 2])
        #expect(result.head.fields == ["Content-Type": "application/vnd.api+json", "X-A": "1"])
        #expect(text(result.body) == #"{"a":2,"b":1}"#)
    }

    @Test(arguments: ["text", 1, 1.5, true, .null, .decimal("1")] as [Parameter])
    func `JRQ-08 a scalar at the top is an error`(parameter: Parameter) {
        let error = SerializationError(
            .unserializable, "the top of a JSON document must be an array or a dictionary.", path: "parameters")
        #expect(throws: error) { try self.serializer.serialize(request("POST"), parameters: parameter) }
    }

    @Test(
        arguments: [
            (["tags": [1, 2, .number(.nan)]], "parameters.tags[2]: nan is not a JSON number."),
            (["a b": ["c": .number(.infinity)]], #"parameters["a b"].c: inf is not a JSON number."#),
            (["a": .decimal("01")], "parameters.a: “01” is not a JSON number."),
            (["a": .decimal("1, 2")], "parameters.a: “1, 2” is not a JSON number."),
            (["a": .decimal("")], "parameters.a: “” is not a JSON number."),
        ] as [(Parameter, String)])
    func `JRQ-09 numbers that JSON lacks are errors`(parameter: Parameter, message: String) {
        let error = #expect(throws: SerializationError.self) {
            try self.serializer.serialize(request("POST"), parameters: parameter)
        }
        #expect(error?.description == message)
    }

    @Test func `pretty documents have a member to a line`() throws {
        let written = try JSONWriter.write(["b": [1, .dictionary([])], "a": []], options: [.pretty, .sortedKeys])
        #expect(text(written) == "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {}\n  ]\n}")
    }

    @Test func `strings are escaped as little as the grammar allows`() throws {
        let written = try JSONWriter.write(["\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😀"])
        #expect(text(written) == "[\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}é😀\"]")
    }

    @Test func `nesting has a limit`() throws {
        var parameter: Parameter = []
        for _ in 0..<511 { parameter = [parameter] }
        try JSONScanner().validate(try JSONWriter.write(parameter))
        for _ in 0..<2 { parameter = [parameter] }
        #expect(throws: SerializationError.self) { try JSONWriter.write(parameter) }
    }

    @Test func `CONNECT cannot carry a document`() {
        let tunnel = RequestHead(method: "CONNECT", target: .authority(Authority(host: "h", port: 443)))
        #expect(throws: SerializationError.self) { try self.serializer.serialize(tunnel, parameters: ["a": 1]) }
    }
}
