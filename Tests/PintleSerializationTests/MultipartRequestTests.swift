// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct MultipartRequestTests {
    private func form() -> MultipartForm {
        var form = MultipartForm()
        form.append(name: "key", text: "value")
        return form
    }

    @Test func `a form takes the place of the body and its type that of any other`() throws {
        let serializer = try HTTPRequestSerializer(preferredLanguages: [], userAgent: "a/1")
        let head = request("POST", "/p?q", ["Content-Type": "text/plain", "X": "y"])
        let form = self.form()
        let result = try serializer.serialize(head, form: form)
        #expect(result.head.target == head.target)
        #expect(result.head.fields == ["Content-Type": form.contentType, "X": "y", "User-Agent": "a/1"])
        guard case .form(let carried) = result.body else {
            Issue.record("no form")
            return
        }
        #expect(carried.contentLength == form.contentLength)
    }

    @Test func `MPF-09 JRQ-10 a form without parts is no form`() throws {
        let http = try HTTPRequestSerializer().serialize(request("POST"), form: MultipartForm())
        #expect(http.head.fields["Content-Type"] == "application/x-www-form-urlencoded")
        guard case .bytes(let body) = http.body else {
            Issue.record("a form")
            return
        }
        #expect(body == [])
        let json = try JSONRequestSerializer().serialize(request("POST"), form: MultipartForm())
        #expect(json.head.fields.isEmpty)
        guard case .bytes(nil) = json.body else {
            Issue.record("a body")
            return
        }
    }

    @Test func `JRQ-10 a form from the JSON serializer has no trace of JSON`() throws {
        let form = self.form()
        let result = try JSONRequestSerializer().serialize(request("PUT"), form: form)
        #expect(result.head.fields == ["Content-Type": form.contentType])
    }

    @Test(arguments: ["GET", "HEAD", "get", "Head"])
    func `MPF-17 GET and HEAD carry no form in any case of letters`(method: String) {
        let error = SerializationError(
            .unsupportedMethod, "a \(method.uppercased()) request cannot carry a form; use POST or PUT.")
        #expect(throws: error) { try HTTPRequestSerializer().serialize(request(method), form: self.form()) }
        #expect(throws: error) { try HTTPRequestSerializer().serialize(request(method), form: MultipartForm()) }
    }

    @Test func `CONNECT carries no form`() {
        let head = RequestHead(method: "CONNECT", target: .authority(Authority(host: "h", port: 1)))
        #expect(throws: SerializationError.self) { try HTTPRequestSerializer().serialize(head, form: self.form()) }
    }

    /// Python's parser of MIME messages knows nothing of our writer.
    @Test func `another implementation reads the parts as they were added`() throws {
        var form = try MultipartForm(parameters: ["a": ["b": "ö\r\n--"], "data": .data(Array(0...255))])
        try form.append(name: "file", bytes: bytes("\r\n"), fileName: "q\"ü\n.txt", type: "text/csv; charset=utf-8")
        form.append(name: "empty", bytes: [])
        var body: [UInt8] = []
        for case .bytes(let bytes) in form.segments { body += bytes }
        #expect(UInt64(body.count) == form.contentLength)
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes("Content-Type: \(form.contentType)\r\n\r\n") + body, to: "message")
        let script = """
            import email, email.policy, sys
            message = email.message_from_bytes(open(sys.argv[1], 'rb').read(), policy=email.policy.HTTP)
            assert not message.defects, message.defects
            for part in message.iter_parts():
                assert not part.defects, part.defects
                sys.stdout.write(' '.join([
                    ascii(part.get_param('name', header='content-disposition')), ascii(part.get_filename()),
                    part.get_content_type(), (part.get_payload(decode=True) or b'').hex(), chr(10)]))
            """
        let child = try ChildProcess("/usr/bin/python3", ["-c", script, path])
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        let all = (0...255).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
        #expect(
            child.output == [
                "'a[b]' None text/plain c3b60d0a2d2d ",
                "'data' None text/plain \(all) ",
                #"'file' 'q%22\xfc%0A.txt' text/csv 0d0a "#,
                "'empty' None text/plain  ",
            ])
    }
}
