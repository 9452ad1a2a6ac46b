// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Answers of routes in the place of their origins' (contract §8).
struct MockTests {
    private static let route = """
        routes:
          - name: users
            match: {hosts: [users.test]}
            response: {content_types: [application/json], headers: {remove: [X-Internal]}}
            mock:
              - {when: {methods: [GET], paths: ["/users/17"]}, json: {id: 17}, headers: {X-Internal: a}}
              - {when: {methods: [POST]}, status: 201, file: made.json}
              - {when: {paths: ["/wrong"]}, body: text}
        """

    private func proxy(_ more: String = "") throws -> PintleProcess {
        let folder = try TemporaryFolder()
        try folder.write(#"{"made": true}"#, to: "made.json")
        return try PintleProcess("\(more)\n\(Self.route)", folder: folder)
    }

    @Test func `a mock answers, and every reader sees that it did`() throws {
        let pintle = try self.proxy()
        let answer = try Curl.run(proxy: pintle.port, "http://users.test/users/17?a=b")
        #expect(answer.status == 200 && answer.text == #"{"id":17}"#, "\(answer)")
        #expect(answer["Content-Type"] == "application/json" && answer["Pintle-Simulated"] == "mock", "\(answer)")
        #expect(answer["X-Internal"] == nil && answer["Date"] != nil && answer["Via"] == "1.1 pintle")
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["source"] as? String == "mock" && line["decision"] as? String == "allow", "\(line)")
        #expect(line["upstream_status"] == nil && line["address"] == nil, "\(line)")
        #expect(try pintle.counters()["mocks"] as? Int == 1)
    }

    @Test(arguments: [[], ["-H", "Expect: 100-continue"], ["-H", "Transfer-Encoding: chunked"]])
    func `the body of the request is read before a mock answers`(more: [String]) throws {
        let pintle = try self.proxy()
        let folder = try TemporaryFolder()
        let file = try folder.write(String(repeating: "x", count: 3_000_000), to: "body")
        let answer = try Curl.run(
            proxy: pintle.port, ["--data-binary", "@\(file)", "http://users.test/users"] + more)
        #expect(answer.status == 201 && answer.json["made"] as? Bool == true, "\(answer)")
        #expect(try pintle.waitForExchanges(1)[0]["bytes_in"] as? Int == 3_000_000)
    }

    @Test func `a mock is judged as an origin's answer is`() throws {
        let pintle = try self.proxy()
        let answer = try Curl.run(proxy: pintle.port, "http://users.test/wrong")
        #expect(answer.status == 502 && answer.problem == "response-content-type", "\(answer)")
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["violations"] as? [String] == ["response-content-type"] && line["source"] as? String == "pintle")
    }

    @Test func `what no mock is for goes to the origin`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("from the origin", fields: "Connection: close\r\n"))
        }
        let pintle = try PintleProcess(
            "routes: [{name: r, mock: [{when: {paths: [\"/mocked\"]}, body: mocked, delay: 20ms}]}]")
        for (path, text, source) in [("mocked", "mocked", "mock"), ("other", "from the origin", nil)] {
            let answer = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/\(path)")
            #expect(answer.text == text && answer["Pintle-Simulated"] == source, "\(answer)")
        }
        #expect(try pintle.waitForExchanges(2).map { $0["source"] as? String } == ["mock", "origin"])
    }

    @Test func `requests inside an intercepted tunnel are mocked in HTTP/2, and nothing is dialled`() throws {
        let stage = try HTTP2Stage(route: ["mock: [{json: {id: 17}}]"])
        let client = try stage.client()
        try client.greet()
        try client.send(HTTP2Bytes.headers(HTTP2Case.request("GET", "/"), on: 1))
        try client.send(HTTP2Bytes.headers(HTTP2Case.request("HEAD", "/"), on: 3))
        while client.answers[1]?.isComplete != true || client.answers[3]?.isComplete != true {
            try #require(try client.next() != nil)
        }
        #expect(client.answers[1]?.text == #"{"id":17}"# && client.answers[3]?.text == "")
        #expect(stage.origin.requests.isEmpty)
    }

    @Test func `a reload changes the mocks, and keeps the counters of those that stay`() throws {
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(
            "routes: [{name: r, mock: [{when: {first: 1}, body: first}, {body: later}]}]", folder: folder)
        func text() throws -> String { try Curl.run(proxy: pintle.port, "http://a.test/").text }
        func reload(_ count: Int, _ route: String) throws {
            try folder.write("version: 1\nlog: {format: json, exchanges: \"-\"}\n\(route)\n", to: "pintle.yaml")
            pintle.process.signal(1)
            try pintle.waitForMessages("reloaded \(folder.path)/pintle.yaml", count)
        }
        #expect(try text() == "first")
        try reload(1, "via: other\nroutes: [{name: r, mock: [{when: {first: 1}, body: first}, {body: later}]}]")
        #expect(try text() == "later")
        try reload(2, "routes: [{name: r, mock: [{when: {first: 1}, body: first}, {body: new}]}]")
        #expect(try text() == "first" && text() == "new")
    }

    private static let pets = """
        openapi: 3.1.0
        info: {title: pets, version: "1"}
        paths:
          /pets/{id}:
            get:
              parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
              responses:
                "200":
                  description: A pet
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [id, name]
                        additionalProperties: false
                        properties: {id: {type: integer}, name: {type: string, minLength: 1}, tag: {type: [string, "null"]}}
                      examples: {rex: {value: {id: 1, name: Rex}}}
          /owners:
            get:
              responses:
                "200":
                  description: Owners
                  content: {application/json: {schema: {type: array, minItems: 1, items: {type: string, format: email}}}}
        """

    private func contracted(_ rules: String, seed: Int = 7) throws -> PintleProcess {
        let folder = try TemporaryFolder()
        try folder.write(Self.pets, to: "pets.yaml")
        return try PintleProcess(
            "simulation: {seed: \(seed)}\nroutes: [{name: r, contract: pets.yaml, \(rules)}]", folder: folder)
    }

    @Test func `a contract answers with its examples, and what has none is a miss`() throws {
        let pintle = try self.contracted(
            "mock: [{openapi: examples}, {body: '[\"a@example.com\"]', headers: {Content-Type: application/json}}]")
        let pet = try Curl.run(proxy: pintle.port, "http://a.test/pets/1")
        #expect(
            pet.status == 200 && pet.json["name"] as? String == "Rex" && pet["Pintle-Simulated"] == "mock", "\(pet)")
        let owners = try Curl.run(proxy: pintle.port, "http://a.test/owners")
        #expect(owners.status == 200 && owners.text == "[\"a@example.com\"]", "\(owners)")
    }

    @Test func `a contract makes answers that keep to it, the same for the same seed`() throws {
        let texts = try (0..<2).map { _ in
            let pintle = try self.contracted("mock: [{openapi: generated}]")
            return try ["pets/1", "owners", "owners"].map { path in
                let answer = try Curl.run(proxy: pintle.port, "http://a.test/\(path)")
                #expect(answer.status == 200 && answer["Pintle-Simulated"] == "mock", "\(answer)")
                return answer.text
            }
        }
        #expect(texts[0] == texts[1])
    }

    @Test func `legal faults keep to the contract, and broken ones do not`() throws {
        let legal = try self.contracted("faults: [{contract: legal}]")
        for _ in 0..<20 {
            let answer = try Curl.run(proxy: legal.port, "http://a.test/pets/1")
            #expect(answer["Pintle-Simulated"] == "fault" && answer.json["id"] is Int, "\(answer)")
            #expect((answer.json["name"] as? String)?.isEmpty == false, "\(answer)")
        }
        let broken = try self.contracted("faults: [{contract: broken}]")
        let answer = try Curl.run(proxy: broken.port, "http://a.test/pets/1")
        #expect(answer["Pintle-Simulated"] == "fault", "\(answer)")
        let line = try broken.waitForExchanges(1)[0]
        #expect(
            (line["error"] as? String)?.hasPrefix("faults[0] of the route: 200 application/json: /") == true, "\(line)")
    }
}
