// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTape
import Testing

@Suite struct `Redaction of recordings` {
    private static func fields(_ lines: (String, String)...) -> Fields {
        var fields = Fields()
        for (name, value) in lines { fields.append(name, value) }
        return fields
    }

    private static func lines(_ fields: Fields) -> [String] { fields.pairs.map { "\($0.name): \($0.value)" } }

    @Test func `members whose names are endless characters take no quadratic time, with rules for members`() throws {
        var marks = ""
        for number in 0..<300_000 { marks.unicodeScalars.append(number % 2 == 0 ? "\u{301}" : "\u{323}") }
        let request = TapeRequest(
            method: "POST", url: "http://a.example/", fields: ["Content-Type": "application/json"],
            body: Array("{\"a\(marks)\":{\"x\":1},\"a\":{\"x\":2}}".utf8))
        let masked = TapeRedaction([try RedactionRule("json:/a/x")]).masked(request)
        // A failure would show how the bodies differ, which takes a time that is quadratic in their lengths.
        let isMasked = masked.body == Array("{\"a\(marks)\":{\"x\":1},\"a\":{\"x\":\"***\"}}".utf8)
        #expect(isMasked)
    }

    @Test func `a form whose names and values are endless characters takes no quadratic time`() {
        var marks = ""
        for number in 0..<300_000 { marks.unicodeScalars.append(number % 2 == 0 ? "\u{301}" : "\u{323}") }
        let form = "b\(marks)=1&password=a\(marks)&c=\(marks)"
        let request = TapeRequest(
            method: "POST", url: "http://a.example/", fields: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array(form.utf8))
        let masked = TapeRedaction().masked(request)
        let isMasked = masked.body == Array("b\(marks)=1&password=***&c=\(marks)".utf8)
        #expect(isMasked)
    }

    @Test func `credentials are masked, and their schemes, names and attributes stay`() {
        let request = TapeRequest(
            method: "GET", url: "http://a.example/x?access_token=abc&id=7&X-Amz-Signature=ff",
            fields: Self.fields(
                ("Authorization", "Bearer secret-of-mine"), ("Cookie", "sid=0123456789; theme=dark"),
                ("X-Api-Key", "my key"), ("Accept", "*/*")))
        let masked = TapeRedaction().masked(request)
        #expect(masked.url == "http://a.example/x?access_token=***&id=7&X-Amz-Signature=***")
        #expect(
            Self.lines(masked.fields) == [
                "Authorization: Bearer ***", "Cookie: sid=***; theme=***", "X-Api-Key: ***", "Accept: */*",
            ])
        #expect(TapeRedaction().masked(masked) == masked)
        let response = TapeResponse(
            head: ResponseHead(status: 200, fields: Self.fields(("Set-Cookie", "sid=abcdefgh; Path=/; HttpOnly"))))
        #expect(
            Self.lines(TapeRedaction().masked(response, TapeRedaction.Secrets()).head.fields) == [
                "Set-Cookie: sid=***; Path=/; HttpOnly"
            ])
    }

    @Test func `the response is searched for what the request hides`() {
        let request = TapeRequest(
            method: "GET", url: "http://a.example/",
            fields: Self.fields(("Authorization", "Basic dXNlcjpodW50ZXIyMg==")))
        var secrets = TapeRedaction.Secrets()
        _ = TapeRedaction().masked(request, &secrets)
        var response = TapeResponse(
            head: ResponseHead(status: 200), body: Array("you are hunter22, dXNlcjpodW50ZXIyMg==".utf8))
        response.head.fields.append("Content-Digest", "sha-256=:x:")
        let masked = TapeRedaction().masked(response, secrets)
        #expect(String(decoding: masked.body, as: UTF8.self) == "you are ***, ***")
        #expect(masked.head.fields.isEmpty)
    }

    @Test(arguments: [
        (
            "application/json", #"{"a": {"pin": 12, "b": [1, {"x": "y"}]}, "token": null, "password": "p w"}"#,
            #"{"a": {"pin": "***", "b": [1, {"x": "***"}]}, "token": null, "password": "***"}"#
        ),
        ("application/x-www-form-urlencoded", "user=me&password=p+w&code=1%2F2", "user=me&password=***&code=***"),
        ("text/plain", "no secrets here", "no secrets here"),
        (
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nme\r\n--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nzzzz\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nme\r\n--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\n***\r\n--b--\r\n"
        ),
    ])
    func `bodies lose the values of their secrets alone`(type: String, body: String, expected: String) throws {
        let rules = try ["json:/a/pin", "json:/a/b/1/x", "form:code"].map { try RedactionRule($0) }
        let request = TapeRequest(
            method: "POST", url: "http://a.example/", fields: Self.fields(("Content-Type", type)),
            body: Array(body.utf8))
        let masked = TapeRedaction(rules).masked(request)
        #expect(String(decoding: masked.body, as: UTF8.self) == expected)
        #expect(TapeRedaction(rules).masked(masked) == masked)
    }

    @Test func `a body with lengths inside keeps them`() {
        let request = TapeRequest(
            method: "POST", url: "http://a.example/", fields: Self.fields(("Content-Type", "application/grpc")),
            body: [0, 0, 0, 0, 22, 10, 20] + Array("AKIAIOSFODNN7EXAMPLE".utf8))
        #expect(TapeRedaction().masked(request).body == [0, 0, 0, 0, 22, 10, 20] + [UInt8](repeating: 42, count: 20))
    }

    @Test func `an event keeps its time when another one is masked`() {
        var response = TapeResponse(
            head: ResponseHead(status: 200, fields: Self.fields(("Content-Type", "text/event-stream"))),
            body: Array("data: AKIAIOSFODNN7EXAMPLE\n\ndata: b\n\n".utf8))
        response.pieces = [.init(time: 5, end: 10), .init(time: 7, end: 28), .init(time: 90, end: 37)]
        let masked = TapeRedaction().masked(response, TapeRedaction.Secrets())
        #expect(String(decoding: masked.body, as: UTF8.self) == "data: ***\n\ndata: b\n\n")
        #expect(masked.pieces == [TapeResponse.Piece(time: 7, end: 11), TapeResponse.Piece(time: 90, end: 20)])
    }

    @Test(arguments: [
        ("query:", "\"query:\": a name is missing behind the colon"),
        ("json:a", "\"a\": a JSON pointer begins with /, for example /user/password"),
        ("body:x", "\"body:x\": \"body:\" is not known; expected query:NAME, form:NAME or json:/POINTER"),
        ("a b", "\"a b\": expected the name of a field, query:NAME, form:NAME or json:/POINTER"),
    ])
    func `a rule that is none is refused in a sentence`(text: String, expected: String) {
        let error = #expect(throws: TapeError.self) { try RedactionRule(text) }
        #expect(error?.description == expected)
    }

    @Test func `secrets in every place of a message are gone, and both forms of the request are one`() {
        var planted = PlantedSecrets(seed: 7)
        var count = 0
        while count < 200 {
            for (kind, secret) in planted.all() {
                let (request, response) = Self.message(with: secret)
                var secrets = TapeRedaction.Secrets()
                let masked = TapeRedaction().masked(request, &secrets)
                let answer = TapeRedaction().masked(response, secrets)
                var all = [masked.url, answer.head.reason]
                for fields in [masked.fields, masked.trailers, answer.head.fields, answer.trailers] {
                    all += Self.lines(fields)
                }
                for body in [masked.body, answer.body] + (answer.messages ?? []).map(\.bytes) {
                    all.append(String(decoding: body, as: UTF8.self))
                }
                for text in all { #expect(!text.contains(secret), "\(kind): \(text)") }
                #expect(TapeRedaction().masked(masked) == masked)
                count += 1
            }
        }
    }

    private static func message(with secret: String) -> (TapeRequest, TapeResponse) {
        let request = TapeRequest(
            method: "POST", url: "http://a.example/in/\(secret)/x?note=\(secret)&b=%22\(secret)%22",
            fields: Self.fields(("X-Note", "see \(secret)"), ("Content-Type", "application/json")),
            body: Array("{\"note\": \"\(secret)\", \"list\": [\"x \(secret) y\"]}".utf8),
            trailers: Self.fields(("X-Sum", secret)))
        var response = TapeResponse(
            head: ResponseHead(
                status: 200, reason: "OK \(secret)",
                fields: Self.fields(("Location", "/\(secret)?a=\(secret)#\(secret)"), ("X-Echo", secret))),
            body: Array("<p>\(secret)</p>".utf8), trailers: Self.fields(("X-Sum", secret)))
        response.messages = [
            TapeMessage(time: 0, isFromClient: true, kind: .text, bytes: Array("say \(secret)".utf8)),
            TapeMessage(time: 1, isFromClient: false, kind: .binary, bytes: [0, 255] + Array(secret.utf8) + [1]),
        ]
        return (request, response)
    }
}
