// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// The small programs, each against a service of the kind that it is written for.
@Suite(.timeLimit(.minutes(15))) struct ProgramTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// A service with an answer for each request line: `METHOD target`.
    private func service(
        _ side: TLSServerSide? = nil, _ answer: @escaping @Sendable (_ line: String, Message) -> String
    ) throws -> RawOrigin {
        try RawOrigin { connection in
            if let side { try connection.stream.secure(as: side) }
            while true {
                let request = try connection.readRequest()
                let line = request.head.startLine.split(separator: " ").prefix(2).joined(separator: " ")
                try connection.send(answer(line, request))
            }
        }
    }

    private func run(_ arguments: String...) throws -> [String] {
        let process = try ExampleProcess.run(arguments)
        #expect(process.exitCode == 0, "\(process.lines)")
        return process.output
    }

    private func file(_ text: String) throws -> String { try self.folder.write(text, to: "file") }

    @Test func `the tour of a client asks, sends, streams and saves`() throws {
        let large = String(repeating: "large ", count: 50_000)
        let origin = try self.service { line, request in
            switch line {
            case "GET /page": answer("200 OK", "hello")
            case "POST /notes":
                request.text == "some data" && request["User-Agent"] == "Tour/1.0"
                    ? answer("201 Created", "") : answer("400 Bad Request", "")
            case "GET /large": answer("200 OK", large)
            default: answer("404 Not Found", "")
            }
        }
        let saved = "\(self.folder.path)/saved"
        #expect(
            try self.run("tour", "http://127.0.0.1:\(origin.port)", saved)
                == ["200 hello", "received 300000 of 300000 bytes", "saved \(saved)"])
        #expect(try String(contentsOfFile: saved, encoding: .utf8) == large)
    }

    @Test func `the advanced client renews its token, keeps its pins and sends its form`() throws {
        let root = try TestPKI().root()
        let leaf = try TestPKI().leaf(dns: ["localhost"], signedBy: root)
        let roots = try self.folder.write(root.certificatePEM, to: "root.pem")
        let origin = try self.service(try TLSServerSide(leaf)) { line, request in
            switch (line, request["Authorization"]) {
            case ("POST /token", _): answer("200 OK", "fresh")
            case (_, let token) where token != "Bearer fresh": answer("401 Unauthorized", "")
            case ("GET /session?verbose=1", _): answer("200 OK", #"{"user_name":"Ada"}"#, "application/json")
            case ("POST /pictures", _):
                request["Accept-Language"] == "fr" && request.body.count > 100_000
                    ? answer("201 Created", "") : answer("400 Bad Request", "")
            default: answer("404 Not Found", "")
            }
        }
        #expect(
            try self.run("advanced", "https://localhost:\(origin.port)", roots, leaf.pin.description)
                == ["hello Ada", "sent", "status 201"])
    }

    @Test func `the tour of a manager has each way of sending`() throws {
        let origin = try self.service { line, request in
            switch line {
            case "GET /file": answer("200 OK", "the file")
            case "POST /upload": answer(request.text == "mine" ? "201 Created" : "400 Bad Request", "")
            case "POST /form":
                answer(request.text.contains(#"filename="filename.jpg""#) ? "201 Created" : "400 Bad Request", "")
            default: answer("200 OK", "\(line) \(request["Content-Type"] ?? "-") \(request.text)")
            }
        }
        let copy = "\(self.folder.path)/copy"
        let output = try self.run(
            "manager", "http://127.0.0.1:\(origin.port)", self.file("mine"), copy, "system")
        #expect(
            output.prefix(7) == [
                "downloaded to \(copy)", "uploaded: 201", "form sent", "form: 201",
                "GET /echo?baz%5B%5D=1&baz%5B%5D=2&baz%5B%5D=3&foo=bar - ",
                "POST /echo application/x-www-form-urlencoded baz%5B%5D=1&baz%5B%5D=2&baz%5B%5D=3&foo=bar",
                #"POST /echo application/json {"foo":"bar","baz":[1,2,3]}"#,
            ], "\(output)")
        #expect(output.count == 8 && output.last?.hasPrefix("network: ") == true, "\(output)")
    }

    @Test func `the forge's client lists, stars and files`() throws {
        let origin = try self.service { line, request in
            guard request["Authorization"] == "Bearer secret" else { return answer("401 Unauthorized", "") }
            return switch line {
            case "GET /users/ada/repos?page=1":
                answer(
                    "200 OK", #"[{"name":"hinge","stargazers_count":3},{"name":"pin","stargazers_count":0}]"#,
                    "application/json")
            case "PUT /user/starred/ada/hinge": answer("204 No Content", "")
            case "POST /repos/ada/hinge/issues" where request.text.contains("It squeaks"):
                answer("201 Created", #"{"number":7,"title":"It squeaks"}"#, "application/json")
            default: answer("404 Not Found", "")
            }
        }
        #expect(
            try self.run("github", "http://127.0.0.1:\(origin.port)", "secret", "ada")
                == ["hinge: 3", "pin: 0", "filed as 7"])
    }

    @Test func `every page's files are downloaded`() throws {
        let origin = try self.service { line, _ in
            switch line {
            case "GET /files?page=1":
                answer(
                    "200 OK", #"{"files":["f/1","f/2","f/3","f/4","f/5","f/6"],"next":"files?page=2"}"#,
                    "application/json")
            case "GET /files?page=2": answer("200 OK", #"{"files":["f/7"]}"#, "application/json")
            default: answer("200 OK", "content of \(line)")
            }
        }
        #expect(try self.run("pages", "http://127.0.0.1:\(origin.port)", self.folder.path) == ["7 files"])
        for number in 1...7 {
            let text = try String(contentsOfFile: "\(self.folder.path)/f_\(number)", encoding: .utf8)
            #expect(text == "content of GET /f/\(number)")
        }
    }

    @Test func `a model's answer is printed while it is made, and its refusal as it is`() throws {
        let first = Watched(false)
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            guard request["Authorization"] == "Bearer key" else {
                return try connection.send(answer("401 Unauthorized", "no key"))
            }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            try connection.send("data: {\"choices\":[{\"delta\":{\"content\":\"It \"}}]}\n\n")
            try first.wait(for: "the first piece to be seen") { $0 }
            try connection.send("data: {\"choices\":[{\"delta\":{\"content\":\"squeaks.\"}}]}\n\ndata: [DONE]\n\n")
        }
        let process = try ExampleProcess.start(["ask", "http://127.0.0.1:\(origin.port)", "key", "Why?"])
        try origin.waitForRequests(1)
        first.change { $0 = true }
        #expect(try process.waitForExit() == 0)
        #expect(process.output == ["It squeaks."], "\(process.lines)")
        #expect(origin.requests.first?.text.contains(#""content":"Why?""#) == true)
        #expect(try self.run("ask", "http://127.0.0.1:\(origin.port)", "wrong", "Why?") == ["no key"])
    }

    @Test func `an upload tells its progress`() throws {
        let origin = try self.service { _, request in answer("201 Created", "\(request.body.count)") }
        let file = try self.file(String(repeating: "0123456789", count: 800_000))
        let output = try self.run("put", "http://127.0.0.1:\(origin.port)/file", file)
        #expect(output.suffix(2) == ["100 %", "status 201"])
        #expect(origin.requests.map(\.body.count) == [8_000_000])
    }

    @Test func `a crawler finds every page of a site once`() throws {
        let origin = try self.service { line, _ in
            let path = line.dropFirst(4)
            // Three pages below each of the first 300, and all of them point home.
            let number = path == "/" ? 0 : Int(path.dropFirst()) ?? -1
            guard 0..<1000 ~= number else { return answer("404 Not Found", "") }
            let links = (1...3).map { "<a href=\"/\(number * 3 + $0)\">" }.joined()
            return answer("200 OK", "<a href=\"/\">\(links)", "text/html")
        }
        #expect(
            try self.run("crawl", "http://127.0.0.1:\(origin.port)") == ["3001 pages, 2001 broken"])
        #expect(origin.requests.count == 3001)
    }

    @Test func `lines come back over a WebSocket`() throws {
        let origin = try RawOrigin { connection in
            let peer = try WebSocketPeer(connection)
            while true {
                let frame = try peer.readFrame()
                guard frame.opcode != 8 else { return try peer.finish(after: frame) }
                try peer.send(WebSocketPeer.Frame(1, frame.payload).bytes)
            }
        }
        #expect(
            try self.run("echo", "ws://127.0.0.1:\(origin.port)/", "one", "two") == ["one", "two", "closed with 1000"])
    }

    @Test func `a transfer whose answer was lost is made again under its name`() throws {
        let root = try TestPKI().root()
        let leaf = try TestPKI().leaf(dns: ["localhost"], signedBy: root)
        let roots = try self.folder.write(root.certificatePEM, to: "root.pem")
        let user = try TestPKI().leaf("A", signedBy: root)
        let identity = try self.folder.write(user.certificatePEM + user.keyPEM, to: "user.pem")
        let side = try TLSServerSide(leaf)
        let lost = Watched(false)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            while true {
                let request = try connection.readRequest()
                let isTransfer = request.head.startLine.hasPrefix("POST /transfers ")
                // The first transfer is carried out, and its answer lost.
                let isLost = lost.change { lost in
                    defer { lost = true }
                    return isTransfer && !lost
                }
                if isLost { return }
                try connection.send(
                    isTransfer ? answer("201 Created", "") : answer("200 OK", #"{"cents":4200}"#, "application/json"))
            }
        }
        #expect(
            try self.run("bank", "https://localhost:\(origin.port)", roots, leaf.pin.description, identity, "800")
                == ["A has 4200 cents"])
        let names = origin.requests.compactMap { $0["Idempotency-Key"] }
        #expect(names.count == 2 && Set(names).count == 1)
        let other = try ExampleProcess.run([
            "bank", "https://localhost:\(origin.port)", roots, user.pin.description, identity, "800",
        ])
        #expect(other.exitCode == 1 && origin.requests.count == 3)
    }

    @Test func `a service is tested without a network`() throws {
        #expect(try self.run("weather") == ["Rome, after 3 requests"])
    }

    @Test func `a job is asked for until the service has time`() throws {
        let asked = Watched(0)
        let origin = try self.service { line, request in
            let number = asked.change { count in
                count += 1
                return count
            }
            if number % 3 != 0 {
                return "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
            }
            return switch line {
            case "POST /jobs/next": answer("200 OK", #"{"id":5,"input":"abc"}"#, "application/json")
            case "PUT /jobs/5/result" where request.text == #"{"output":"cba"}"#: answer("204 No Content", "")
            default: answer("404 Not Found", "")
            }
        }
        #expect(try self.run("job", "http://127.0.0.1:\(origin.port)") == ["job 5 is done"])
        #expect(origin.requests.count == 6)
        let idle = try self.service { _, _ in answer("204 No Content", "") }
        #expect(try self.run("job", "http://127.0.0.1:\(idle.port)") == ["nothing to do"])
    }
}

/// A response with its body's length.
private func answer(_ status: String, _ body: String, _ type: String = "text/plain") -> String {
    guard !status.hasPrefix("204") else { return "HTTP/1.1 204 No Content\r\n\r\n" }
    return "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
}
