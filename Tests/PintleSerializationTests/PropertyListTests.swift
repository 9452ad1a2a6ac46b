// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct PropertyListTests {
    private let everything: Parameter = [
        "text": "ä<&>", "yes": true, "no": false, "one": 1, "minus": -9_223_372_036_854_775_808, "real": 1.0,
        "huge": .decimal("18446744073709551615"), "bytes": .data([0, 255]), "list": [1, "x", []], "empty": [:],
    ]

    private let same: PropertyListValue = .dictionary([
        "text": .string("ä<&>"), "yes": .bool(true), "no": .bool(false), "one": .integer(1),
        "minus": .integer(.min), "real": .real(1), "huge": .unsigned(.max), "bytes": .data([0, 255]),
        "list": .array([.integer(1), .string("x"), .array([])]), "empty": .dictionary([:]),
    ])

    private let plain = "<?xml version=\"1.0\"?><plist version=\"1.0\">"

    private func problem(_ bytes: [UInt8]) -> String? {
        do throws(PropertyListError) {
            _ = try PropertyListReader.read(bytes)
            return nil
        } catch {
            return error.description
        }
    }

    // MARK: Requests

    @Test func `PRQ-01 PRQ-03 parameters are an XML document`() throws {
        let result = try PropertyListRequestSerializer().serialize(request("POST"), parameters: ["key": "value"])
        #expect(result.head.fields == ["Content-Type": "application/x-plist"])
        #expect(
            text(result.body) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                \t<key>key</key>
                \t<string>value</string>
                </dict>
                </plist>

                """)
    }

    @Test(
        arguments: [
            ("parameters.a", ["a": .null], "null has no form in a property list; leave the entry out."),
            ("parameters.a[1]", ["a": [1, .set([1])]], "a set has no form in a property list; write an array."),
            (
                "parameters.a.b", ["a": ["b": .file(FilePart([], fileName: ""))]],
                "a file has no form in a property list; only multipart carries files."
            ),
            (
                "parameters.a", ["a": .date(1e300)],
                "a date outside the years 1 to 9999 has no form in a property list."
            ),
            (
                "parameters.a", ["a": .date(.nan)],
                "a date outside the years 1 to 9999 has no form in a property list."
            ),
            ("parameters.a", ["a": .decimal("1e400")], "“1e400” has no form in a property list."),
            ("parameters.a", ["a": 1, "a": 2], "a dictionary of a property list has each key once."),
            ("parameters[\"\\0\"]", ["\0": 1], "XML has no form for control characters; the binary format has."),
            ("parameters[0]", ["\u{1}"], "XML has no form for control characters; the binary format has."),
        ] as [(String, Parameter, String)])
    func `PRQ-02 what has no form is an error with its path`(path: String, parameter: Parameter, message: String) {
        #expect(throws: SerializationError(.unserializable, message, path: path)) {
            try PropertyListRequestSerializer().serialize(request("POST"), parameters: parameter)
        }
    }

    @Test func `PRQ-04 only bodies are property lists and a type that is there stays`() throws {
        let serializer = PropertyListRequestSerializer()
        let get = try serializer.serialize(request("GET"), parameters: ["a": 1])
        #expect(get == SerializedRequest(head: request("GET", "/?a=1"), body: nil))
        let none = try serializer.serialize(request("POST"), parameters: nil)
        #expect(none == SerializedRequest(head: request("POST"), body: nil))
        let typed = request("POST", "/", ["Content-Type": "application/plist+x"])
        #expect(try serializer.serialize(typed, parameters: ["a": 1]).head == typed)
        let tunnel = RequestHead(method: "CONNECT", target: .authority(Authority(host: "h", port: 1)))
        #expect(throws: SerializationError.self) { try serializer.serialize(tunnel, parameters: ["a": 1]) }
    }

    @Test func `PRQ-05 a copy keeps the format`() throws {
        let serializer = PropertyListRequestSerializer(format: .binary)
        let copy = serializer
        let body = try #require(try copy.serialize(request("POST"), parameters: ["\0": "\u{1}"]).body)
        #expect(body.starts(with: bytes("bplist00")))
        #expect(try PropertyListReader.read(body) == .dictionary(["\0": .string("\u{1}")]))
    }

    @Test(arguments: [PropertyListWriter.Format.xml, .binary])
    func `every kind of value comes back`(format: PropertyListWriter.Format) throws {
        #expect(try PropertyListReader.read(try PropertyListWriter.write(self.everything, format: format)) == self.same)
        var deep: Parameter = 1
        for _ in 0..<512 { deep = [deep] }
        #expect(throws: SerializationError.self) { try PropertyListWriter.write([deep], format: format) }
    }

    @Test(arguments: [(PropertyListWriter.Format.xml, "FMT_XML"), (.binary, "FMT_BINARY")])
    func `another implementation reads what is written, and the other way round`(
        format: PropertyListWriter.Format, name: String
    ) throws {
        let folder = try TemporaryFolder()
        try folder.write(try PropertyListWriter.write(self.everything, format: format), to: "ours")
        let script = """
            import plistlib, datetime
            value = plistlib.load(open('ours', 'rb'))
            assert value == {'text': 'ä<&>', 'yes': True, 'no': False, 'one': 1, 'minus': -2**63, 'real': 1.0,
                             'huge': 2**64 - 1, 'bytes': bytes([0, 255]), 'list': [1, 'x', []], 'empty': {}}, value
            assert isinstance(value['real'], float) and value['yes'] is True
            value['when'] = datetime.datetime(2001, 1, 1)
            plistlib.dump(value, open('theirs', 'wb'), fmt=plistlib.\(name))
            """
        let child = try ChildProcess("/usr/bin/python3", ["-X", "utf8", "-c", script], folder: folder.path)
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        guard case .dictionary(var expected) = self.same else { return }
        expected["when"] = .date(978_307_200)
        #expect(try PropertyListReader.read(try folder.read("theirs")) == .dictionary(expected))
    }

    // MARK: Responses

    @Test func `PLR-01 a property list is read`() throws {
        let body = bytes("\(self.plain)<dict><key>foo</key><string>bar</string></dict></plist>")
        let value = try PropertyListResponseSerializer()
            .decode(response(200, "application/x-plist"), body: body, requestMethod: "GET")
        #expect(value == .dictionary(["foo": .string("bar")]))
        #expect(
            try violation(PropertyListResponseSerializer(), response(200, "text/xml"), text(body) ?? "")?.kind
                == .responseContentType)
    }

    @Test(arguments: [#"{"foo":"bar"}"#, "{a = b;}", "hello", "<0fbd77>", "(1, 2)", "<plist/>", "<a/>"])
    func `PLR-02 what is no property list is a violation`(body: String) throws {
        let error = try violation(PropertyListResponseSerializer(), response(200, "application/x-plist"), body)
        #expect(error?.kind == .responseBody)
        #expect(error?.message.hasPrefix("Request failed: invalid property list: ") == true)
    }

    @Test func `PLR-03 PLR-04 an empty body is nil where there can be none and else a violation`() throws {
        let serializer = PropertyListResponseSerializer()
        let type = "application/x-plist"
        #expect(try serializer.decode(response(204, type), body: [], requestMethod: "GET") == nil)
        #expect(try violation(serializer, response(200, type), "")?.kind == .responseBody)
    }

    @Test func `PLR-05 a copy has every setting`() {
        let serializer = PropertyListResponseSerializer(acceptableStatusCodes: nil, acceptableContentTypes: ["A/b"])
        let copy = serializer
        #expect(copy == serializer)
        #expect(
            copy.contract
                == ResponseContract(acceptableStatusCodes: nil, acceptableContentTypes: ["a/b"], body: .propertyList))
    }

    // MARK: Hostile documents

    @Test func `containers that share their members do not grow without limit`() {
        let broken = "the document has far more values than bytes"
        #expect(self.problem(Self.ladder(levels: 3)) == nil)
        #expect(self.problem(Self.ladder(levels: 40)) == broken)
        #expect(self.problem(Self.ladder(levels: 200)) == broken)
    }

    @Test(arguments: [0x4F, 0x5F, 0x6F] as [UInt8])
    func `containers that share one long text do not grow without limit`(marker: UInt8) {
        // 64 KiB of text: sixteen copies are as much as a document of this size may have.
        let text = [marker, 0x11, marker == 0x6F ? 0x7F : 0xFF, 0xFF] + Array(repeating: 0x61, count: 0xFFFF)
        func document(_ count: UInt16) -> [UInt8] {
            let list = [0xAF, 0x11, UInt8(count >> 8), UInt8(count & 0xFF)]
            return Self.binary([list + Array(repeating: 1, count: Int(count)), text])
        }
        #expect(self.problem(document(16)) == nil)
        #expect(self.problem(document(60_000)) == "the document has far more text than bytes")
    }

    @Test func `containers in themselves and too deep ones are refused`() {
        let deep = "the document has more than 512 levels of containers"
        // The short ones run out of values before they are deep.
        let large = "the document has far more values than bytes"
        #expect(self.problem(Self.binary([[0xA1, 0]])) == large)
        #expect(self.problem(Self.binary([[0xA1, 1], [0xA1, 0]])) == large)
        #expect(self.problem(Self.chain(levels: 300)) == nil)
        #expect(self.problem(Self.chain(levels: 100_000)) == deep)
        let start = String(repeating: "<array>", count: 600)
        let end = String(repeating: "</array>", count: 600)
        #expect(self.problem(bytes("\(self.plain)\(start)\(end)</plist>")) != nil)
    }

    @Test(
        arguments: [
            ([[0xA1, 7]], "the document has values that lie outside of it"),
            ([[0xAE, 0]], "the document has values that lie outside of it"),
            ([[0xAF, 0x13, 255, 255, 255, 255, 255, 255, 255, 255]], "the document has values that lie outside of it"),
            ([[0xC1, 1], [0x09]], "the document has a value that is neither text, number, date nor container"),
            ([[0x80, 1]], "the document has a value that is neither text, number, date nor container"),
            ([[0xD1, 1, 1], [0x09]], "the document has a key that is no text"),
            ([[0xD2, 1, 1, 1, 1], [0x51, 0x61]], "the document has a dictionary with a key twice"),
            ([[0x51, 0xC3]], "the document has text that is not ASCII"),
            ([[0x61, 0xD8, 0x00]], "the document has text that is not UTF-16"),
            ([[0x14] + Array(repeating: 1, count: 16)], "the document has a whole number that needs more than 64 bits"),
        ] as [([[UInt8]], String)])
    func `what no binary property list has is refused`(objects: [[UInt8]], problem: String) {
        #expect(self.problem(Self.binary(objects)) == problem)
    }

    @Test func `no bytes make it trap`() throws {
        var random = SeededGenerator(seed: 11)
        for format in [PropertyListWriter.Format.xml, .binary] {
            let document = try PropertyListWriter.write(self.everything, format: format)
            // The last line end of XML may be missing.
            for count in 0..<document.count - 1 { #expect(self.problem(Array(document[..<count])) != nil) }
            for _ in 0..<3000 {
                var mutated = document
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let place = Int.random(in: 0..<mutated.count, using: &random)
                    mutated[place] = .random(in: .min ... .max, using: &random)
                }
                _ = self.problem(mutated)
            }
        }
    }

    /// A binary document of the given objects, the first at the top, with references of one byte.
    private static func binary(_ objects: [[UInt8]]) -> [UInt8] { self.binary(objects, referenceSize: 1) }

    private static func binary(_ objects: [[UInt8]], referenceSize: UInt8) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        var document = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += number(document.count, 4)
            document += object
        }
        let table = document.count
        document += offsets + [0, 0, 0, 0, 0, 0, 4, referenceSize]
        return document + number(objects.count, 8) + number(0, 8) + number(table, 8)
    }

    /// Arrays, each of which has the next one twice.
    private static func ladder(levels: Int) -> [UInt8] {
        self.binary((1..<levels).map { [0xA2, UInt8($0), UInt8($0)] } + [[0xA0]])
    }

    /// Arrays, each of which has the next one.
    private static func chain(levels: Int) -> [UInt8] {
        let links = (1..<levels).map { next -> [UInt8] in
            let bytes = [next >> 16, next >> 8, next].map { UInt8(truncatingIfNeeded: $0) }
            return [0xA1] + bytes
        }
        return self.binary(links + [[0xA0]], referenceSize: 3)
    }
}

extension TemporaryFolder {
    fileprivate func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(self.path)/\(name)")))
    }
}
