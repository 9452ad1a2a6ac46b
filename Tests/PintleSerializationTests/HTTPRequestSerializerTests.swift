// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct HTTPRequestSerializerTests {
    let serializer = HTTPRequestSerializer()

    @Test func `SER-REQ-01 POST carries a form`() throws {
        let result = try self.serializer.serialize(request("POST"), parameters: ["key": "value"])
        #expect(text(result.body) == "key=value")
        #expect(result.head.fields == ["Content-Type": "application/x-www-form-urlencoded"])
    }

    @Test func `SER-REQ-02 POST without parameters carries an empty form`() throws {
        let result = try self.serializer.serialize(request("POST"), parameters: nil)
        #expect(result.body == [])
        #expect(result.head.fields[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func `SER-REQ-03 GET carries a query in origin and absolute form`() throws {
        let result = try self.serializer.serialize(request("GET"), parameters: ["key": "value"])
        #expect(result == SerializedRequest(head: request("GET", "/?key=value"), body: nil))
        let authority = Authority(host: "example.com", port: 80)
        let head = RequestHead(method: "GET", target: .absolute(scheme: .http, authority: authority, path: "/"))
        #expect(
            try self.serializer.serialize(head, parameters: ["key": "value"]).head.target
                == .absolute(scheme: .http, authority: authority, path: "/?key=value"))
    }

    @Test func `SER-REQ-04 an empty dictionary leaves no question mark`() throws {
        let result = try self.serializer.serialize(request("GET", "/p"), parameters: .dictionary([]))
        #expect(result.head == request("GET", "/p"))
    }

    @Test(arguments: [("/p?x=1", "/p?x=1&a=1"), ("/p?", "/p?&a=1")])
    func `SER-REQ-05 a query is added to`(before: String, after: String) throws {
        #expect(try self.serializer.serialize(request("GET", before), parameters: ["a": 1]).head.target.path == after)
    }

    @Test func `SER-REQ-06 a fragment, which no parsed target has, is an error`() {
        let error = SerializationError(.unsupportedTarget, "a target with a fragment cannot take a query.")
        #expect(throws: error) { try self.serializer.serialize(request("GET", "/p#f"), parameters: ["a": 1]) }
    }

    @Test(arguments: ["get", "Head", "delete"])
    func `SER-REQ-07 methods are placed by their upper case and stay as they are`(method: String) throws {
        let result = try self.serializer.serialize(request(method), parameters: ["a": 1])
        #expect(result == SerializedRequest(head: request(method, "/?a=1"), body: nil))
    }

    @Test func `SER-REQ-08 a method taken from the set has a body`() throws {
        var serializer = self.serializer
        serializer.uriMethods.remove("DELETE")
        #expect(text(try serializer.serialize(request("DELETE"), parameters: ["a": 1]).body) == "a=1")
        serializer.uriMethods = ["delete"]
        #expect(try serializer.serialize(request("DELETE"), parameters: ["a": 1]).body == nil)
    }

    @Test func `SER-REQ-09 a default field never replaces one of the request`() throws {
        var serializer = self.serializer
        try serializer.setField("X-Team", to: "core")
        try serializer.setField("Accept", to: "a/b")
        let result = try serializer.serialize(request("GET", "/", ["x-team": "mine"]), parameters: nil)
        #expect(result.head.fields == ["x-team": "mine", "Accept": "a/b"])
    }

    @Test func `SER-REQ-10 a Content-Type that is there stays`() throws {
        let own = try self.serializer.serialize(request("POST", "/", ["content-type": "a/b"]), parameters: nil)
        #expect(own.head.fields == ["content-type": "a/b"])
        var serializer = self.serializer
        try serializer.setField("Content-Type", to: "c/d")
        #expect(try serializer.serialize(request("POST"), parameters: nil).head.fields == ["Content-Type": "c/d"])
    }

    @Test func `SER-REQ-11 a field is read as it was set`() throws {
        var serializer = self.serializer
        try serializer.setField("X-A", to: "1")
        #expect(serializer.field("X-A") == "1")
        #expect(serializer.field("x-a") == "1")
        #expect(serializer.field("X-B") == nil)
    }

    @Test func `SER-REQ-12 a field set to nil is gone`() throws {
        var serializer = self.serializer
        try serializer.setField("X-A", to: "1")
        try serializer.setField("X-A", to: nil)
        #expect(serializer.defaultFields.isEmpty)
    }

    @Test(.timeLimit(.minutes(15))) func `SER-REQ-13 copies in 1000 tasks stay independent`() async throws {
        let serializer = self.serializer
        let values = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
            for number in 0..<1000 {
                group.addTask {
                    var copy = serializer
                    try copy.setField("X-A", to: "\(number)")
                    return (number, try copy.serialize(request("GET"), parameters: nil).head.fields["X-A"])
                }
            }
            return try await group.reduce(into: [Int: String?]()) { $0[$1.0] = $1.1 }
        }
        #expect(values.count == 1000)
        #expect(values.allSatisfy { $0.value == "\($0.key)" })
        #expect(serializer.field("X-A") == nil)
    }

    @Test func `SER-REQ-14 languages are weighted down to a half`() {
        #expect(DefaultFields.acceptLanguage(preferring: ["en-US", "fr"]) == "en-US;q=1, fr;q=0.9")
        #expect(
            DefaultFields.acceptLanguage(preferring: ["a", "b", "c", "d", "e", "f", "g"])
                == "a;q=1, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5")
        #expect(DefaultFields.acceptLanguage(preferring: ["en\r\nX: y", "en_US.UTF-8"]) == nil)
    }

    @Test(arguments: [
        ("user", "password", "Basic dXNlcjpwYXNzd29yZA=="), ("ü", "p", "Basic w7w6cA=="),
        (String(repeating: "u", count: 60), "p", "Basic " + Self.longUser),
    ])
    func `SER-REQ-17 basic authorization replaces an earlier one`(user: String, password: String, value: String) throws
    {
        var serializer = self.serializer
        try serializer.setAuthorization(user: "old", password: "old")
        try serializer.setAuthorization(user: user, password: password)
        #expect(serializer.defaultFields == ["Authorization": value])
    }

    /// `u` sixty times is `dXV1` twenty times; then `:p`. A line of base64 would break after 76 characters.
    static let longUser = String(repeating: "dXV1", count: 20) + "OnA="

    @Test func `SER-REQ-17 a colon in the user name is an error`() {
        var serializer = self.serializer
        #expect(throws: SerializationError.self) { try serializer.setAuthorization(user: "a:b", password: "c") }
        #expect(throws: SerializationError.self) { try serializer.setAuthorization(user: "a", password: "c\n") }
    }

    @Test func `SER-REQ-18 clearing removes only the authorization`() throws {
        var serializer = self.serializer
        try serializer.setField("X-A", to: "1")
        try serializer.setAuthorization(user: "u", password: "p")
        serializer.clearAuthorization()
        #expect(serializer.defaultFields == ["X-A": "1"])
    }

    @Test func `SER-REQ-22 the error of a block is the error`() {
        var serializer = self.serializer
        let refusal = SerializationError(.refused, "not today")
        serializer.queryBlock = { (_, _) throws(SerializationError) -> String? in throw refusal }
        #expect(throws: refusal) { try serializer.serialize(request("GET"), parameters: .dictionary([])) }
    }

    @Test func `SER-REQ-23 a block is called only for parameters and may return nothing`() throws {
        var serializer = self.serializer
        serializer.queryBlock = { (_, parameters) throws(SerializationError) -> String? in
            if parameters == ["none": true] { return nil }
            throw SerializationError(.refused, "called")
        }
        #expect(try serializer.serialize(request("GET"), parameters: nil).head == request("GET"))
        #expect(try serializer.serialize(request("GET"), parameters: ["none": true]).head == request("GET"))
        #expect(throws: SerializationError.self) { try serializer.serialize(request("GET"), parameters: 1) }
    }

    @Test func `SER-REQ-24 a block sees the request without default fields`() throws {
        var serializer = self.serializer
        try serializer.setField("X-A", to: "1")
        serializer.queryBlock = { (head, _) throws(SerializationError) -> String? in "fields=\(head.fields.count)" }
        let result = try serializer.serialize(request("GET", "/", ["X-B": "2"]), parameters: 1)
        #expect(result.head.target.path == "/?fields=1")
    }

    @Test func `SER-REQ-26 a copy has every setting`() throws {
        var original = self.serializer
        try original.setField("X-A", to: "1")
        original.uriMethods = ["GET"]
        original.stringEncoding = try TextEncoding("utf-16")
        original.queryBlock = { (_, _) throws(SerializationError) -> String? in "q" }
        var copy = original
        #expect(copy.uriMethods == ["GET"])
        #expect(copy.stringEncoding == original.stringEncoding)
        #expect(try copy.serialize(request("GET"), parameters: 1) == original.serialize(request("GET"), parameters: 1))
        try copy.setField("X-A", to: "2")
        #expect(original.field("X-A") == "1")
    }

    @Test func `SER-REQ-28 the encoding is of the body and not of the escapes`() throws {
        var serializer = self.serializer
        serializer.stringEncoding = try TextEncoding("utf-16be")
        let result = try serializer.serialize(request("POST"), parameters: ["a": "ä"])
        #expect(result.body == "a=%C3%A4".utf8.flatMap { [0, $0] })
    }

    @Test(
        arguments: [("iso-8859-1", [0xE4]), ("windows-1252", [0xE4]), ("UTF-8", [0xC3, 0xA4])] as [(String, [UInt8])])
    func `SER-REQ-28 the text of a block is encoded`(name: String, expected: [UInt8]) throws {
        var serializer = self.serializer
        serializer.stringEncoding = try TextEncoding(name)
        serializer.queryBlock = { (_, _) throws(SerializationError) -> String? in "ä" }
        #expect(try serializer.serialize(request("POST"), parameters: 1).body == expected)
    }

    @Test func `text that the encoding lacks is an error`() throws {
        var serializer = self.serializer
        serializer.stringEncoding = try TextEncoding("us-ascii")
        serializer.queryBlock = { (_, _) throws(SerializationError) -> String? in "ä" }
        let error = SerializationError(.unencodable, "the text has characters that us-ascii lacks.")
        #expect(throws: error) { try serializer.serialize(request("POST"), parameters: 1) }
        #expect(throws: SerializationError(.unknownEncoding, "no character encoding is called “klingon”.")) {
            try TextEncoding("klingon")
        }
    }

    @Test(arguments: [("X A", "1"), ("", "1"), ("X-A", "1\r\nX-B: 2"), ("X-A", " 1"), ("X-A", "\u{0}")])
    func `what may not stand in a field is an error`(name: String, value: String) {
        var serializer = self.serializer
        #expect(throws: SerializationError.self) { try serializer.setField(name, to: value) }
        #expect(serializer.defaultFields.isEmpty)
    }

    @Test(arguments: ["a b", "a#b", "a\r\nb", "ä"])
    func `a block's text that may not stand in a target is an error`(query: String) {
        var serializer = self.serializer
        serializer.queryBlock = { (_, _) throws(SerializationError) -> String? in query }
        #expect(throws: SerializationError.self) { try serializer.serialize(request("GET"), parameters: 1) }
    }

    @Test func `targets without a path cannot take parameters`() {
        let tunnel = RequestHead(method: "CONNECT", target: .authority(Authority(host: "h", port: 443)))
        #expect(throws: SerializationError.self) { try self.serializer.serialize(tunnel, parameters: nil) }
        let asterisk = RequestHead(method: "GET", target: .asterisk)
        #expect(throws: SerializationError.self) { try self.serializer.serialize(asterisk, parameters: ["a": 1]) }
    }
}
