// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

/// Conversion of parameters between a dictionary and the target of a request.
@Suite struct QueryPlacementTests {
    @Test(arguments: [
        (" :#[]@!$&'()*+,;=/?", "%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"),
        ("%20%21", "%2520%2521"), ("!\u{1F474}\u{1F3FF}", "%21%F0%9F%91%B4%F0%9F%8F%BF"),
    ])
    func `PCT-02 PCT-03 PCT-04 values are escaped once on their way into a request`(
        value: String, escaped: String
    ) throws {
        let parameters = Parameter.dictionary([.init("key", .string(value))])
        let result = try HTTPRequestSerializer().serialize(request("GET", "/p"), parameters: parameters)
        #expect(result == SerializedRequest(head: request("GET", "/p?key=\(escaped)"), body: nil))
    }

    @Test(arguments: [
        (1e16, "10000000000000000"), (-1e16, "-10000000000000000"), (-0.0, "0"), (0.1, "0.1"), (1e-7, "1e-07"),
    ])
    func `QRY-13 a whole number is its digits, and zero has no sign`(number: Double, text: String) throws {
        #expect(try QueryString.encode(["n": .number(number)]) == "n=\(text)")
    }

    @Test(arguments: ["HEAD", "head"])
    func `SER-REQ-08 HEAD has its parameters in the query whatever the set says`(method: String) throws {
        var serializer = HTTPRequestSerializer()
        serializer.uriMethods = []
        let expected = SerializedRequest(head: request(method, "/?a=1"), body: nil)
        #expect(try serializer.serialize(request(method), parameters: ["a": 1]) == expected)
        #expect(try serializer.serialize(request("GET"), parameters: ["a": 1]).body == bytes("a=1"))
    }

    @Test func `SER-REQ-09 SER-REQ-12 the letter case of a default field's name does not count`() throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setField("X-Team", to: "one")
        try serializer.setField("x-team", to: "two")
        #expect(serializer.defaultFields == ["x-team": "two"])
        try serializer.setField("X-TEAM", to: nil)
        #expect(serializer.defaultFields.isEmpty)
    }
}
