// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Requests that are repeated byte for byte are parsed and planned once, which must not be observable.
struct RecurrentRequestTests {
    private let origin: RawOrigin

    init() throws {
        self.origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let path = request.head.startLine.split(separator: " ").dropFirst().first ?? ""
                let fields = request.head.fields.map { "\($0.name): \($0.value)" }.sorted().joined(separator: ", ")
                try connection.send(Self.answer(to: String(path), "\(request.head.startLine) {\(fields)}"))
            }
        }
    }

    private static func answer(to path: String, _ seen: String) -> String {
        switch path {
        case "/kept": response("0123456789", fields: "Cache-Control: max-age=600\r\nETag: \"v1\"\r\n")
        case "/moved": response("", status: "302 Found", fields: "Location: /there\r\n")
        case "/cookie": response(seen, fields: "Set-Cookie: a=b\r\n")
        case "/broken": response("{", fields: "Content-Type: application/json\r\n")
        default: response(seen)
        }
    }

    private func configuration(_ value: String = "one") -> String {
        """
        routes:
          - {name: gate, match: {hosts: [gate.test]}, upstream: "http://127.0.0.1:\(self.origin.port)"}
          - name: jar
            match: {paths: ["/cookie"]}
            request: {cookies: jar}
          - {name: follow, match: {paths: ["/moved"]}, redirects: follow}
          - name: contract
            match: {paths: ["/broken"]}
            response: {content_types: [text/plain]}
          - name: kept
            match: {paths: ["/kept"]}
            cache: {policy: protocol}
            response: {headers: {set: {X-Rule: \(value)}}}
          - name: rest
            match: {paths: ["/**"]}
            request: {headers: {set: {X-Rule: \(value)}, add: {X-More: "1"}, remove: [X-Gone]}}
        destinations: {deny: ["denied.test"]}
        cache: {disk: off}
        """
    }

    /// Returns the parts of an answer that must be the same each time.
    private func lasting(_ answer: Message) -> String {
        let isProblem = answer["Content-Type"]?.contains("problem") == true
        let fields = answer.head.fields.filter { field in
            let name = field.name.lowercased()
            return name != "age" && name != "date" && !(isProblem && name == "content-length")
        }
        let lines = fields.map { field in
            let value = field.name == "Cache-Status" ? field.value.replacing(/ttl=[0-9]+/, with: "ttl") : field.value
            return "\(field.name): \(value)"
        }
        return "\(answer.head.startLine) \(lines) \(isProblem ? "" : answer.text)"
    }

    @Test(arguments: [
        ("GET /plain", ""), ("GET /plain", "X-Gone: yes\r\nAccept: */*\r\n"), ("HEAD /plain", ""),
        ("GET /kept", ""), ("HEAD /kept", ""), ("GET /kept", "Range: bytes=2-4\r\n"),
        ("GET /kept", "If-None-Match: \"v1\"\r\n"), ("GET /kept", "Range: bytes=20-\r\n"),
        ("GET /kept", "Cache-Control: only-if-cached\r\n"), ("GET /cookie", "Cookie: mine=1\r\n"),
        ("GET /moved", ""), ("GET /broken", ""), ("OPTIONS /plain", "Max-Forwards: 0\r\n"),
        ("TRACE /plain", "Max-Forwards: 3\r\n"), ("DELETE /plain", ""), ("GET /plain", "Via: 1.1 pintle\r\n"),
        ("GET /plain", "Connection: close\r\n"), ("POST /plain", "Content-Length: 0\r\n"),
    ])
    func `each of the answers is like the first`(request: String, fields: String) throws {
        let parts = request.split(separator: " ").map(String.init)
        let pintle = try PintleProcess(self.configuration())
        if parts[1] == "/kept" { _ = try pintle.ask(get(self.origin.port, "/kept", fields: "X: first\r\n")) }
        // The proxy's jar adds the cookie to the next request.
        if parts[1] == "/cookie" { _ = try pintle.ask(get(self.origin.port, "/cookie")) }
        let place = "127.0.0.1:\(self.origin.port)"
        for target in ["http://\(place)\(parts[1])", "http://denied.test\(parts[1])"] {
            let bytes = "\(parts[0]) \(target) HTTP/1.1\r\nHost: \(place)\r\n\(fields)\r\n"
            let answers = try (0..<5).map { _ in self.lasting(try pintle.ask(bytes, method: parts[0])) }
            #expect(Set(answers).count == 1, "\(answers)")
        }
        #expect(try pintle.waitForExchanges(10).count >= 10)
    }

    @Test func `to a gateway as well`() throws {
        let pintle = try PintleProcess(self.configuration())
        let bytes = "GET /a HTTP/1.1\r\nHost: gate.test\r\n\r\n"
        let answers = try (0..<5).map { _ in self.lasting(try pintle.ask(bytes)) }
        #expect(Set(answers).count == 1 && answers[0].contains("GET /a HTTP/1.1"), "\(answers)")
        #expect(try pintle.waitForExchanges(5).allSatisfy { $0["host"] as? String == "gate.test" })
    }

    @Test func `the same bytes in tunnels to different hosts are different requests`() throws {
        let folder = try TemporaryFolder()
        try AuthorityFolder("\(folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let route = { (host: String) in
            """
              - name: \(host)
                match: {hosts: [\(host).test]}
                connect: intercept
                upstream: "http://127.0.0.1:\(self.origin.port)"
                request: {headers: {set: {X-Route: \(host)}}}
            """
        }
        let pintle = try PintleProcess(
            "routes:\n\(route("one"))\n\(route("two"))", environment: ["XDG_DATA_HOME": folder.path], folder: folder)
        func answer(to bytes: String, inTunnelTo host: String) throws -> Message {
            let client = try pintle.connect()
            try client.send("CONNECT \(host).test:80 HTTP/1.1\r\nHost: \(host).test:80\r\n\r\n")
            #expect(try client.readHead().status == 200)
            try client.send(bytes)
            return try client.readResponse()
        }
        // Without a Host the bytes fit both; with one, they fit the first alone.
        let (open, named) = ("GET /plain HTTP/1.0\r\n\r\n", "GET /plain HTTP/1.1\r\nHost: one.test\r\n\r\n")
        for _ in 0..<5 {
            for host in ["one", "two"] {
                #expect(try answer(to: open, inTunnelTo: host).text.contains("X-Route: \(host)"))
                #expect(try answer(to: named, inTunnelTo: host).head.status == (host == "one" ? 200 : 403))
            }
        }
    }

    @Test func `a new configuration is in force for the next one`() throws {
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(self.configuration(), folder: folder)
        for path in ["/plain", "/kept"] {
            for _ in 0..<5 { _ = try pintle.ask(get(self.origin.port, path)) }
        }
        try folder.write(
            "version: 1\nlog: {format: json, exchanges: \"-\"}\n\(self.configuration("two"))\n", to: "pintle.yaml")
        pintle.process.signal(SIGHUP)
        _ = try pintle.waitForMessages("reloaded \(folder.path)/pintle.yaml")
        #expect(try pintle.ask(get(self.origin.port, "/plain")).text.contains("X-Rule: two"))
        #expect(try pintle.ask(get(self.origin.port, "/kept"))["X-Rule"] == "two")
    }

    @Test func `ages go on, and a purge is seen at once`() throws {
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(self.configuration(), folder: folder)
        let bytes = get(self.origin.port, "/kept")
        for _ in 0..<5 { _ = try pintle.ask(bytes) }
        // A guard against hanging, which counts the test's own turns.
        var turns = 0
        while try pintle.ask(bytes)["Age"] != "2", turns < 1_000_000 { turns += 1 }
        let answer = try pintle.ask(bytes)
        #expect(["2", "3"].contains(answer["Age"]) && answer["Cache-Status"]?.contains(";hit") == true)
        let arguments = ["purge", "http://127.0.0.1:\(self.origin.port)/kept"]
        let purge = try PintleProcess.run(arguments, environment: ["XDG_STATE_HOME": folder.path])
        #expect(purge.errors == ["1 answer is gone"])
        #expect(try pintle.ask(bytes)["Cache-Status"]?.contains("uri-miss") == true)
    }

    @Test func `hundreds at once are answered in their order, also to a client that has sent its last`() throws {
        let pintle = try PintleProcess(self.configuration())
        _ = try pintle.ask(get(self.origin.port, "/kept"))
        let client = try pintle.connect()
        let (kept, plain) = (get(self.origin.port, "/kept"), get(self.origin.port, "/plain"))
        let failure = Watched<String?>(nil)
        inBackground(failure) {
            try client.send(String(repeating: String(repeating: kept, count: 99) + plain, count: 8))
            client.finishSending()
        }
        for number in 0..<800 {
            let answer = try client.readResponse()
            #expect(number % 100 == 99 ? answer.text.hasPrefix("GET /plain") : answer.text == "0123456789", "\(number)")
        }
        #expect(try client.readToEnd().bytes.isEmpty && failure.current == nil)
    }
}
