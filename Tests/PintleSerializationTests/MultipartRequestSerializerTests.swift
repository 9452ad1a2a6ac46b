// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct MultipartRequestSerializerTests {
    private let serializer = MultipartRequestSerializer()

    @Test func `parameters are a form, whose type replaces any other`() throws {
        var serializer = self.serializer
        try serializer.http.setField("X-A", to: "1")
        let file = FilePart([0xFF], fileName: "a\".bin")
        let result = try serializer.serialize(
            request("POST", "/p", ["Content-Type": "multipart/form-data; boundary=old"]),
            parameters: ["f": .file(file), "a": ["b": "ü"], "d": .data([0xFE])])
        let type = try #require(result.head.fields["Content-Type"])
        #expect(result.head.fields == ["Content-Type": type, "X-A": "1"])
        let boundary = try #require(type.split(separator: "=").last)
        let text =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"a[b]\"\r\n\r\nü\r\n"
            + "--\(boundary)\r\nContent-Disposition: form-data; name=\"d\"\r\n\r\n\u{FE}\r\n"
            + "--\(boundary)\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a%22.bin\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n\u{FF}\r\n--\(boundary)--\r\n"
        let expected = text.unicodeScalars.flatMap { scalar -> [UInt8] in
            scalar.value >= 0xFE ? [UInt8(scalar.value)] : bytes(String(scalar))
        }
        #expect(result.body == expected)
        let again = try serializer.serialize(request("POST"), parameters: ["a": 1])
        #expect(again.head.fields["Content-Type"] != type)
    }

    @Test func `methods of the URI set have a query, and no parameters are no form`() throws {
        let get = try self.serializer.serialize(request("GET", "/p"), parameters: ["a": [1]])
        #expect(get == SerializedRequest(head: request("GET", "/p?a%5B%5D=1"), body: nil))
        let none = try self.serializer.serialize(request("POST"), parameters: nil)
        #expect(none == SerializedRequest(head: request("POST"), body: nil))
        let file: Parameter = ["a": .file(FilePart([], fileName: "f"))]
        let error = SerializationError(
            .unserializable, "a file has no form in a query; only multipart carries files.", path: "parameters.a")
        #expect(throws: error) { try self.serializer.serialize(request("DELETE"), parameters: file) }
    }

    @Test func `parameters without a value are a form without parts`() throws {
        let result = try self.serializer.serialize(request("POST"), parameters: ["a": [], "b": .dictionary([])])
        let type = try #require(result.head.fields["Content-Type"])
        #expect(text(result.body) == "--\(type.split(separator: "=").last ?? "")--\r\n")
        #expect(try MultipartReader.read(result.body ?? [], contentType: type) == [:])
    }

    @Test(
        arguments: [
            (
                "parameters.a[2].b", "a date has no form in multipart; write text or a number.",
                ["a": [1, 2, ["b": .date(0)]]]
            ),
            (
                "parameters.f", "\"a\\r\\nb\" is no media type: it is empty, or has control characters.",
                ["f": .file(FilePart([], fileName: "f", mediaType: "a\r\nb"))]
            ),
            ("parameters", "a list has no name at the top of a query; put it into a dictionary.", [1]),
        ] as [(String, String, Parameter)])
    func `what multipart has no form for is an error with its path`(path: String, message: String, value: Parameter) {
        let error = #expect(throws: SerializationError.self) {
            try self.serializer.serialize(request("POST"), parameters: value)
        }
        #expect(error?.description == "\(path): \(message)")
    }

    @Test func `GET that is no URI method and CONNECT carry no form`() {
        var serializer = self.serializer
        serializer.http.uriMethods = []
        let error = SerializationError(.unsupportedMethod, "a GET request cannot carry a form; use POST or PUT.")
        #expect(throws: error) { try serializer.serialize(request("GET"), parameters: ["a": 1]) }
        let tunnel = RequestHead(method: "CONNECT", target: .authority(Authority(host: "h", port: 443)))
        #expect(throws: SerializationError.self) { try serializer.serialize(tunnel, parameters: ["a": 1]) }
    }

    @Test func `text is in the chosen encoding`() throws {
        var serializer = self.serializer
        serializer.http.stringEncoding = try TextEncoding("iso-8859-1")
        let result = try serializer.serialize(request("POST"), parameters: ["a": "ä"])
        #expect(try #require(result.body).split(separator: 0xE4).count == 2)
        let error = SerializationError(
            .unencodable, "the text has characters that iso-8859-1 lacks.", path: "parameters.a[0]")
        #expect(throws: error) { try serializer.serialize(request("POST"), parameters: ["a": ["中"]]) }
    }
}
