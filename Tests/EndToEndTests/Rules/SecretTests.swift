// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Reports on values that may be secret, if a contract finds a fault in them.
struct SecretTests {
    private static let secret = "s3cr3t-token"
    private static let redactsNothing = "{format: json, exchanges: \"-\", redact: off}"
    private static let contract = "contract: {file: openapi.yaml, requests: true}"
    private static let rules = """
        {serialize: http, parameters: {api_key: "file:key", list: ["file:key", 5]},
        headers: {default: {X-D: "file:key"}, set: {X-Api-Key: "file:key"}, add: {X-Add: "file:key"}},
        authorization: {bearer: "file:key"}}
        """

    private let folder: TemporaryFolder
    private let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(
            answering: response("{\"name\":\"theirs\"}", fields: "Content-Type: application/json\r\n"))
        try self.folder.write(Self.secret, to: "key")
        try self.folder.write(
            """
            openapi: 3.1.0
            info: {title: keys, version: "1"}
            paths:
              /keys:
                get:
                  parameters:
                    - {name: api_key, in: query, schema: {enum: [a]}}
                    - {name: limit, in: query, schema: {type: integer, maximum: 10}}
                    - {name: X-Api-Key, in: header, schema: {pattern: "^a$"}}
                  responses:
                    200: {description: it, content: {application/json: {schema: {properties: {name: {const: a}}}}}}
                post:
                  requestBody:
                    content:
                      application/json: {schema: {properties: {api_key: {enum: [a]}, name: {const: a}}}}
                  responses: {200: {description: done}}
            """, to: "openapi.yaml")
    }

    private func pintle(_ route: String, log: String = "{format: json, exchanges: \"-\"}") throws -> PintleProcess {
        let rules = route.replacingOccurrences(of: "\n", with: " ")
        return try PintleProcess(
            "routes: [{name: keys, allow_cleartext_credentials: true, \(rules)}]", log: log, folder: self.folder)
    }

    /// Returns the problem's detail that the client gets and the error in the log, for one exchange.
    private func told(_ pintle: PintleProcess, _ arguments: String...) throws -> (detail: String, error: String) {
        let result = try Curl.run(
            proxy: pintle.port, arguments.dropLast() + ["http://127.0.0.1:\(self.origin.port)\(arguments.last ?? "")"])
        let line = try pintle.waitForExchanges(1)[0]
        let everything = result.text + result.heads.description + pintle.process.lines.map(\.text).joined()
        #expect(!everything.contains(Self.secret), "\(everything)")
        return (result.json["detail"] as? String ?? "\(result)", line["error"] as? String ?? "\(line)")
    }

    @Test(arguments: [Self.redactsNothing, "{format: json, exchanges: \"-\"}"])
    func `a parameter that the route adds is not shown, whatever is wrong with it`(log: String) throws {
        let sentence = "the request breaks its contract: the query parameter api_key: must be “a”"
        let pintle = try self.pintle(
            "\(Self.contract), request: {serialize: http, parameters: {api_key: \"file:key\"}}", log: log)
        #expect(try self.told(pintle, "/keys") == (sentence, sentence))
    }

    @Test(arguments: [Self.redactsNothing, "{format: json, exchanges: \"-\"}"])
    func `nor a field or a member of the body`(log: String) throws {
        let field = "the request breaks its contract: the header parameter X-Api-Key: must match the pattern “^a$”"
        let setting = try self.pintle(
            "\(Self.contract), request: {headers: {set: {x-api-key: \"file:key\"}}}", log: log)
        #expect(try self.told(setting, "/keys") == (field, field))
        let member = "the request breaks its contract: at /api_key: must be “a”"
        let adding = try self.pintle(
            "\(Self.contract), request: {serialize: json, parameters: {api_key: \"file:key\"}}", log: log)
        #expect(try self.told(adding, "-d", "name=a", "/keys") == (member, member))
    }

    @Test func `what clients and origins send is shown only where nothing is redacted`() throws {
        let parameter = "the request breaks its contract: the query parameter limit: must be an integer, is "
        #expect(try self.told(try self.pintle(Self.contract), "/keys?limit=mine").error == parameter + "a string")
        let open = try self.pintle(Self.contract, log: Self.redactsNothing)
        #expect(try self.told(open, "/keys?limit=mine") == (parameter + "“mine”", parameter + "“mine”"))
        let other = try self.pintle(
            "\(Self.contract), request: {headers: {set: {X-Other: \"file:key\"}}}", log: Self.redactsNothing)
        #expect(
            try self.told(other, "-H", "X-Api-Key: theirs", "/keys").error
                == "the request breaks its contract: the header parameter X-Api-Key: must match the pattern “^a$”, is "
                + "“theirs”")
        let body = "Request failed: unacceptable JSON: at /name: must be “a”"
        #expect(try self.told(try self.pintle(Self.contract), "/keys") == (body, body))
        let openly = try self.pintle(Self.contract, log: Self.redactsNothing)
        #expect(try self.told(openly, "/keys") == (body + ", is “theirs”", body + ", is “theirs”"))
    }

    // MARK: A sample

    private func sample(_ text: String, serialize: String = "http", log: String = "{}") throws -> ChildProcess {
        let rules = Self.rules.replacingOccurrences(of: "\n", with: " ")
            .replacingOccurrences(of: "serialize: http", with: "serialize: \(serialize)")
        let file = try self.folder.write(
            """
            version: 1
            log: \(log)
            routes: [{name: keys, allow_cleartext_credentials: true, request: \(rules)}]
            """, to: "p.yaml")
        let process = try PintleProcess.run(
            ["check", "-c", file, "--sample", try self.folder.write(text, to: "s.http")])
        #expect(process.exitCode == 0, "\(process.lines)")
        return process
    }

    @Test func `a sample masks what the route injects`() throws {
        let query = try self.sample("GET http://a.test/keys?mine=1 HTTP/1.1\nHost: x\nX-D: mine\n\n")
        #expect(
            query.output == [
                "GET /keys?mine=***&api_key=***&list%5B%5D=***&list%5B%5D=*** HTTP/1.1\r", "Host: a.test\r",
                "X-D: mine\r", "Via: 1.1 pintle\r", "Authorization: ***\r", "X-Api-Key: ***\r", "X-Add: ***\r", "\r",
            ], "\(query.lines)")
        let body = try self.sample(
            "POST http://a.test/keys HTTP/1.1\nHost: x\nContent-Type: application/json\n\n{\"mine\":1,\"api_key\":2}",
            serialize: "json")
        #expect(body.output.last == #"{"mine":1,"api_key":"***","list":["***","***"]}"#, "\(body.lines)")
        #expect(body.output.contains("Content-Length: 47\r") && body.output.contains("X-D: ***\r"), "\(body.lines)")
    }

    @Test(arguments: ["http", "json", "plist", "multipart"])
    func `no form of a sample has a secret, unless redaction is off`(form: String) throws {
        let text = "POST http://a.test/keys HTTP/1.1\nHost: x\nContent-Type: application/json\n\n{\"mine\":1}"
        let masked = try self.sample(text, serialize: form)
        #expect(!masked.lines.contains { $0.text.contains(Self.secret) }, "\(masked.lines)")
        let open = try self.sample(text, serialize: form, log: "{redact: off}")
        #expect(open.lines.count { $0.text.contains(Self.secret) } >= 5, "\(open.lines)")
        #expect(open.output.contains { $0.hasPrefix("Authorization: Bearer \(Self.secret)") })
    }
}
