// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Messages that are described by an OpenAPI document.
struct APIContractTests {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func write(servers: String = "") throws {
        try self.folder.write(
            """
            openapi: 3.1.0
            info: {title: pets, version: "1"}
            \(servers)
            paths:
              /pets:
                get:
                  parameters: [{name: limit, in: query, schema: {type: integer, maximum: 10}}]
                  responses:
                    200: {description: all, content: {application/json: {schema: {$ref: "#/components/schemas/Pets"}}}}
                post:
                  requestBody:
                    required: true
                    content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}
                  responses: {201: {description: made}, default: {description: not}}
            components:
              schemas:
                Pet: {type: object, required: [name], properties: {name: {type: string}}}
                Pets: {type: array, items: {$ref: "#/components/schemas/Pet"}}
            """, to: "openapi.yaml")
    }

    private func origin(_ body: String, status: String = "200 OK", type: String = "application/json") throws
        -> RawOrigin
    {
        try RawOrigin(answering: response(body, status: status, fields: "Content-Type: \(type)\r\n"))
    }

    private func pintle(_ route: String, more: String = "") throws -> PintleProcess {
        try PintleProcess("\(more)\nroutes: [{name: pets, \(route)}]", folder: self.folder)
    }

    @Test func `a response as declared passes`() throws {
        try self.write()
        let origin = try self.origin(#"[{"name":"Rex"}]"#)
        let pintle = try self.pintle("contract: openapi.yaml")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/pets?limit=99")
        #expect(result.status == 200 && result.text == #"[{"name":"Rex"}]"#, "\(result)")
    }

    @Test(arguments: [
        (#"[{"name":1}]"#, "200 OK", "application/json", "response-body", "at /0/name: "),
        ("[]", "418 Teapot", "application/json", "response-status", "418"),
        ("<a/>", "200 OK", "application/xml", "response-content-type", "application/xml"),
        ("", "200 OK", "application/json", "response-body", "JSON"),
    ])
    func `a response that is not as declared is a problem`(
        body: String, status: String, type: String, problem: String, word: String
    ) throws {
        try self.write()
        let origin = try self.origin(body, status: status, type: type)
        let pintle = try self.pintle("contract: openapi.yaml")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/pets")
        #expect(result.status == 502 && result.problem == problem, "\(result)")
        #expect((result.json["detail"] as? String)?.contains(word) == true, "\(result)")
    }

    @Test func `a status that is not declared is a problem beside a body rule too`() throws {
        try self.write()
        let origin = try self.origin("[]", status: "418 Teapot")
        let pintle = try self.pintle("contract: openapi.yaml, response: {body: json}")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/pets")
        #expect(result.status == 502 && result.problem == "response-status", "\(result)")
    }

    @Test(arguments: [
        ("GET", "/pets?limit=11", "", "limit"), ("GET", "/dogs", "", "/dogs"), ("PUT", "/pets", "", "PUT"),
        ("POST", "/pets", "", "body"), ("POST", "/pets", #"{"name":1}"#, "at /name: "),
    ])
    func `requests are held to it where it says so`(
        method: String, target: String, body: String, word: String
    ) throws {
        try self.write()
        let origin = try self.origin("[]", status: "201 Made")
        let pintle = try self.pintle("contract: {file: openapi.yaml, requests: true}")
        let url = "http://127.0.0.1:\(origin.port)\(target)"
        let content = body.isEmpty ? [] : ["-H", "Content-Type: application/json", "-d", body]
        let result = try Curl.run(proxy: pintle.port, ["-X", method] + content + [url])
        #expect(result.status == 422 && result.problem == "unserializable-request", "\(result)")
        #expect((result.json["detail"] as? String)?.contains(word) == true, "\(result)")
        #expect(origin.connections.isEmpty)
        let reporting = try self.pintle(
            "contract: {file: openapi.yaml, requests: true}, response: {on_violation: report}")
        let passed = try Curl.run(proxy: reporting.port, ["-X", method] + content + [url])
        #expect(passed.status == 201, "\(passed)")
        #expect(passed.head.values("Pintle-Violation").contains("unserializable-request"), "\(passed)")
        #expect(try origin.waitForRequests(1)[0].text == body)
    }

    @Test(arguments: ["contract: openapi.yaml", "contract: {file: openapi.yaml}"])
    func `LOOK-103 an operation that is not declared is a violation in every form`(contract: String) throws {
        try self.write()
        let origin = try self.origin("[]")
        let pintle = try self.pintle(contract)
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/dogs")
        #expect(result.status == 422 && result.problem == "unserializable-request", "\(result)")
        #expect(origin.connections.isEmpty)
        let reporting = try self.pintle("\(contract), response: {on_violation: report}")
        let passed = try Curl.run(proxy: reporting.port, "http://127.0.0.1:\(origin.port)/dogs")
        #expect(passed.status == 200, "\(passed)")
        #expect(passed.head.values("Pintle-Violation") == ["unserializable-request"], "\(passed)")
    }

    @Test func `a request as declared is sent, with its body`() throws {
        try self.write()
        let origin = try self.origin("", status: "201 Made")
        let pintle = try self.pintle(
            "contract: {file: openapi.yaml, requests: true}, request: {serialize: json, parameters: {source: p}}")
        let result = try Curl.run(
            proxy: pintle.port, "-d", "name=Rex", "http://127.0.0.1:\(origin.port)/pets")
        #expect(result.status == 201, "\(result)")
        #expect(try origin.waitForRequests(1)[0].text == #"{"name":"Rex","source":"p"}"#)
    }

    @Test func `a contract for everything is about the servers that it names`() throws {
        let (named, other) = (try self.origin("[1]"), try self.origin("[1]"))
        try self.write(servers: "servers: [{url: \"http://127.0.0.1:\(named.port)/\"}]")
        let pintle = try PintleProcess("contract: openapi.yaml", folder: self.folder)
        let judged = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(named.port)/pets")
        #expect(judged.status == 502 && judged.problem == "response-body", "\(judged)")
        let passed = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(other.port)/pets")
        #expect(passed.status == 200 && passed.text == "[1]", "\(passed)")
    }

    @Test func `explain and a sample know the contract`() throws {
        try self.write()
        let file = try self.folder.write(
            "version: 1\nroutes: [{name: a, contract: {file: openapi.yaml, requests: true}}]\n", to: "p.yaml")
        let explained = try PintleProcess.run(["explain", "-c", file, "GET", "http://pets.test/pets?limit=3"])
        #expect(
            explained.output.contains(
                "contract     GET /pets of \(self.folder.path)/openapi.yaml, for requests and responses"),
            "\(explained.lines)")
        let unknown = try PintleProcess.run(["explain", "-c", file, "GET", "http://pets.test/dogs"])
        #expect(unknown.output.contains { $0.hasSuffix("the request is refused") }, "\(unknown.lines)")
        let sample = try self.folder.write(
            "POST http://pets.test/pets HTTP/1.1\nHost: x\nContent-Type: application/json\n\n{\"name\":1}", to: "s.http"
        )
        let checked = try PintleProcess.run(["check", "-c", file, "--sample", sample])
        #expect(checked.exitCode == 1 && checked.errors.contains { $0.contains("at /name: ") }, "\(checked.lines)")
    }

    @Test(arguments: ["enforcement: report\n", ""])
    func `explain and a sample know what is only reported`(enforcement: String) throws {
        try self.write()
        let response = enforcement.isEmpty ? "{on_violation: report, status: 201}" : "{status: 201}"
        let file = try self.folder.write(
            "version: 1\n\(enforcement)routes: [{name: a, contract: {file: openapi.yaml, requests: true}, response: "
                + "\(response)}]\n", to: "p.yaml")
        let explained = try PintleProcess.run(["explain", "-c", file, "GET", "http://pets.test/pets"])
        #expect(
            explained.output.contains(
                "contract     GET /pets of \(self.folder.path)/openapi.yaml, for requests and responses, whose violations are only reported"
            ) && explained.output.contains("response     reports all but 201"), "\(explained.lines)")
        let unknown = try PintleProcess.run(["explain", "-c", file, "GET", "http://pets.test/dogs"])
        #expect(
            unknown.output.contains {
                $0.hasSuffix("no path for /dogs; the request is sent all the same, and reported")
            },
            "\(unknown.lines)")
        let sample = try self.folder.write(
            "POST http://pets.test/pets HTTP/1.1\nHost: x\nContent-Type: application/json\n\n{\"name\":1}", to: "s.http"
        )
        let checked = try PintleProcess.run(["check", "-c", file, "--sample", sample])
        #expect(checked.exitCode == 0 && checked.output.last == #"{"name":1}"#, "\(checked.lines)")
        #expect(
            checked.errors.contains {
                $0.hasPrefix("reported: the request breaks its contract: at /name: must be a string")
            },
            "\(checked.lines)")
        let notes = try PintleProcess.run(["check", "-c", file]).output
        #expect(
            notes.contains {
                $0.hasSuffix(
                    "reports all but 201; reports requests and responses that break \(self.folder.path)/openapi.yaml; "
                        + "denies tunnels, which could not keep its rules")
            }, "\(notes)")
    }

    @Test func `a contract that cannot be read is told of with its place`() throws {
        try self.write()
        let file = try self.folder.write(
            "version: 1\ncontract: openapi.yaml\nroutes:\n  - {name: a, contract: gone.yaml}\n", to: "p.yaml")
        let process = try PintleProcess.run(["check", "-c", file])
        #expect(process.exitCode == 3)
        let text = process.errors.joined(separator: "\n")
        #expect(text.contains("p.yaml:2:11: contract: ") && text.contains("#/servers: "), "\(text)")
        #expect(text.contains("p.yaml:4:25: routes[0].contract: there is no file "), "\(text)")
    }

    @Test func `a body is judged by the type that a header rule gives it`() throws {
        try self.write()
        let origin = try self.origin("{}", status: "201 Created")
        let pintle = try self.pintle(
            "contract: {file: openapi.yaml, requests: true}, "
                + "request: {headers: {set: {Content-Type: application/json}}}")
        let url = "http://127.0.0.1:\(origin.port)/pets"
        let passed = try Curl.run(proxy: pintle.port, "-d", #"{"name":"Rex"}"#, url)
        #expect(passed.status == 201, "\(passed)")
        let refused = try Curl.run(proxy: pintle.port, "-d", #"{"name":1}"#, url)
        #expect(refused.status == 422 && (refused.json["detail"] as? String)?.contains("/name") == true, "\(refused)")
        #expect(origin.requests.count == 1)
    }

    @Test func `trailers of a request that is judged are forwarded`() throws {
        try self.write()
        let origin = try self.origin("{}", status: "201 Created")
        let pintle = try self.pintle("contract: {file: openapi.yaml, requests: true}")
        let answer = try pintle.ask(
            "POST http://127.0.0.1:\(origin.port)/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n13\r\n{\"name\": \"Rex\"}    \r\n0\r\nX-Sum: 1\r\n\r\n",
            method: "POST")
        #expect(answer.status == 201, "\(answer)")
        #expect(origin.requests[0].trailers.map(\.name) == ["X-Sum"] && origin.requests[0].body.count == 19)
    }
}
