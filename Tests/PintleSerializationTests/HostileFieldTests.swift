// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

/// Fields about the body, with far more members than any client sends: refused, or read once.
@Suite struct HostileFieldTests {
    /// `String` compares runs of combining marks in quadratic time: half a million would take minutes for each comparison.
    @Test func `a type of combining marks is no type, at once`() {
        let marks = String(repeating: "\u{301}\u{316}", count: 250_000)
        #expect(MediaType.essence(of: "TEXT/\(marks); a=b").utf8.allSatisfy { $0 < 0x80 })
        let head = RequestHead(
            method: "POST", target: .origin(path: "/"), fields: ["Content-Type": "text/\(marks)+json"])
        #expect(throws: SerializationError.self) { try IncomingParameters.read(head, body: [1]) }
        let response = ResponseHead(status: 200, fields: ["Content-Type": "\(marks)/\(marks)"])
        #expect(ResponseContract.json.validateHead(response, requestMethod: "GET") != nil)
        var request: Fields = ["Accept-Encoding": "\(marks), gzip"]
        request.narrowAcceptEncoding()
        #expect(request["Accept-Encoding"] == "gzip")
    }

    @Test func `of Accept-Encoding the first 64 members count`() {
        var fields: Fields = ["Accept-Encoding": String(repeating: "identity,", count: 64) + "gzip"]
        fields.narrowAcceptEncoding()
        #expect(fields["Accept-Encoding"]?.contains("gzip") == false)
    }

    @Test func `a thousand parameters of a type are read once, and none may be there twice`() throws {
        let parameters = (0..<20_000).map { "; p\($0)=\($0)" }.joined()
        let body = Array("--p19999\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--p19999--".utf8)
        func read(_ type: String) throws(SerializationError) -> Parameter? {
            let head = RequestHead(method: "POST", target: .origin(path: "/"), fields: ["Content-Type": type])
            return try IncomingParameters.read(head, body: body)
        }
        #expect(try read("multipart/form-data; boundary=p19999\(parameters)") == ["a": "b"])
        #expect(throws: SerializationError.self) {
            try read("multipart/form-data; boundary=p19999\(parameters); P1=1")
        }
    }
}
