// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

/// Bodies as text.
struct TextResponseTests {
    private func decode(
        _ body: [UInt8], _ type: String?, status: UInt16 = 200, by serializer: TextResponseSerializer = .init(),
        method: String = "GET"
    ) throws(ValidationError) -> String {
        var fields = Fields()
        if let type { fields.append("Content-Type", type) }
        return try serializer.decode(
            ResponseHead(status: status, fields: fields), body: body, requestMethod: method)
    }

    @Test(
        arguments: [
            ([0x68, 0xC3, 0xA4], "text/html", "hä"), ([0x68, 0xE4], "text/html; charset=iso-8859-1", "hä"),
            ([0x68, 0xC3, 0xA4], "text/html; charset=\"UTF-8\"", "hä"), ([0x68, 0xE4], "text/plain", "h\u{FFFD}"),
            ([0, 0x68, 0, 0xE4], "text/plain; charset=utf-16be", "hä"),
            ([0x68, 0xC3, 0xA4], "text/plain; charset=klingon", "hä"), ([0x68], nil, "h"), ([], "text/plain", ""),
        ] as [([UInt8], String?, String)])
    func `UIW-04 text is in the charset that the response names, else in UTF-8`(
        body: [UInt8], type: String?, text: String
    ) throws {
        #expect(try self.decode(body, type) == text)
    }

    @Test func `UIW-04 what is no text in the charset that it claims is a violation`() {
        let error = #expect(throws: ValidationError.self) {
            try self.decode([0xFF, 0xFF], "text/plain; charset=utf-8")
        }
        #expect(error?.message == "Request failed: the body is no text in utf-8" && error?.kind == .responseBody)
    }

    @Test func `status and type are judged, and no body is no text`() throws {
        #expect(throws: ValidationError.self) { try self.decode([0x68], nil, status: 404) }
        let html = TextResponseSerializer(acceptableContentTypes: ["text/html"])
        #expect(throws: ValidationError.self) { try self.decode([0x68], "text/plain", by: html) }
        #expect(try self.decode([0x68], "text/html", by: html) == "h")
        #expect(try self.decode([], "text/html", status: 204, by: html) == "")
        #expect(try self.decode([], "text/html", by: html, method: "HEAD") == "")
    }
}
