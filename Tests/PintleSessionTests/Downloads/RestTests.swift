// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Answers of servers to a request for the rest of a file, including wrong ones.
@Suite(.timeLimit(.minutes(15))) struct RestTests {
    let stage: SessionStage
    let folder: TemporaryFolder
    /// The whole file; its first five bytes are left over.
    static let whole = "0123456789"

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
    }

    /// An answer to a request for the bytes from the fifth on.
    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: String
        let fields: [String]
        let body: String

        init(
            _ name: String, _ fields: [String], _ body: String = "56789", status: String = "206 Partial Content"
        ) {
            (self.testDescription, self.status, self.fields, self.body) = (name, status, fields, body)
        }

        var text: String {
            let fields = self.fields + ["Content-Length: \(self.body.utf8.count)"]
            return "HTTP/1.1 \(self.status)\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n\(self.body)"
        }
    }

    private func origin(_ answer: Answer, then next: String = response(Self.whole)) throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let asksForRest = try connection.readRequest()["Range"] != nil
                try connection.send(asksForRest ? answer.text : next)
            }
        }
    }

    /// Runs the download that is to be resumed.
    private func download(from origin: RawOrigin) async throws -> TaskResult {
        try LeftOver(in: self.folder, of: origin.port).write(Array("01234".utf8), length: 10)
        return try await self.stage.session.download(
            request(origin.port, "/big"), to: .file(self.folder.path("out")))
    }

    private var text: String? { self.folder.bytes("out").map { String(decoding: $0, as: UTF8.self) } }

    @Test(arguments: [
        Answer("as it should be", ["Content-Range: bytes 5-9/10", "ETag: \"v1\""]),
        Answer("without a tag", ["Content-Range: bytes 5-9/10"]),
        Answer("without the length of the whole", ["Content-Range: bytes 5-9/*", "ETag: \"v1\""]),
        Answer("with letters of another case", ["content-range: BYTES 5-9/10", "etag: \"v1\""]),
        Answer("with a weak tag", ["Content-Range: bytes 5-9/10", "ETag: W/\"v1\""]),
    ])
    func `the rest is appended`(answer: Answer) async throws {
        let origin = try self.origin(answer)
        let result = try await self.download(from: origin)
        #expect(result.response.status == 206 && self.text == Self.whole && self.folder.names == ["out"])
        let seen = try #require(origin.requests.first)
        #expect(origin.requests.count == 1 && seen["Range"] == "bytes=5-" && seen["If-Range"] == "\"v1\"")
    }

    @Test(arguments: [
        Answer("another tag", ["Content-Range: bytes 5-9/10", "ETag: \"v2\""]),
        Answer("another length", ["Content-Range: bytes 5-9/11", "ETag: \"v1\""]),
        Answer("another start", ["Content-Range: bytes 4-9/10", "ETag: \"v1\""], "456789"),
        Answer("the start of the file", ["Content-Range: bytes 0-4/10", "ETag: \"v1\""], "01234"),
        Answer("an end beyond the whole", ["Content-Range: bytes 5-10/*", "ETag: \"v1\""], "56789A"),
        Answer("no range", ["ETag: \"v1\""]),
        Answer("a range without sense", ["Content-Range: bytes 9-5/10", "ETag: \"v1\""]),
        Answer("a huge range", ["Content-Range: bytes 5-99999999999999999999/*", "ETag: \"v1\""]),
        Answer("another unit", ["Content-Range: lines 5-9/10", "ETag: \"v1\""]),
        Answer("several parts", ["Content-Type: multipart/byteranges; boundary=x"], "--x--"),
        Answer("nothing there", ["Content-Range: bytes */3"], "no", status: "416 Range Not Satisfiable"),
        Answer("nothing there, and more to read", [], String(repeating: "no", count: 200_000), status: "416 No"),
    ])
    func `a server that sends something else is asked for the whole`(answer: Answer) async throws {
        let origin = try self.origin(answer)
        let result = try await self.download(from: origin)
        #expect(result.response.status == 200 && self.text == Self.whole && self.folder.names == ["out"])
        #expect(result.metrics.transactions.count == 2)
        let seen = origin.requests
        #expect(seen.count == 2 && seen[1]["Range"] == nil && seen[1]["If-Range"] == nil)
    }

    @Test func `a part is gone on with under the fields that are given again, and no range among them`() async throws {
        let origin = try RawOrigin { connection in
            let isFirst = try connection.readRequest()["Range"] == nil
            let rest = "HTTP/1.1 206 P\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n56789"
            try connection.send(
                isFirst ? "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n01234" : rest)
        }
        let (session, destination) = (self.stage.session, DownloadDestination.file(self.folder.path("out")))
        let task = try session.downloadTask(
            request(origin.port, fields: ["Authorization": "secret"]), to: destination)
        task.resume()
        #expect(await sessionError { _ = try await task.value() }?.code == .truncated)
        let part = try #require(task.partialDownload)
        #expect(
            self.folder.bytes("out.part.json").map { String(decoding: $0, as: UTF8.self) }?.contains("secret") == false)
        let wrong = try session.downloadTask(resuming: part, to: destination, fields: ["Range": "bytes=1-"])
        wrong.resume()
        #expect(await sessionError { _ = try await wrong.value() }?.code == .invalidRequest)
        let again = try session.downloadTask(resuming: part, to: destination, fields: ["Authorization": "secret"])
        again.resume()
        _ = try await again.value()
        let seen = try #require(origin.requests.last)
        #expect(self.text == Self.whole && seen["Authorization"] == "secret" && seen["Range"] == "bytes=5-")
    }

    @Test func `HOP-09 a 200 begins at zero, and nothing of the part stays`() async throws {
        let origin = try self.origin(Answer("whole", ["ETag: \"v2\""], "new", status: "200 OK"))
        let result = try await self.download(from: origin)
        #expect(result.response.status == 200 && self.text == "new" && origin.requests.count == 1)
    }

    @Test func `a server that sends parts to who asks for the whole is not believed`() async throws {
        let part = Answer("part", ["Content-Range: bytes 2-9/10", "ETag: \"v2\""], "23456789")
        let origin = try self.origin(part, then: part.text)
        let error = await sessionError { _ = try await self.download(from: origin) }
        #expect(error?.code == .malformedResponse && origin.requests.count == 2)
        #expect(error?.message == "127.0.0.1:\(origin.port) was asked for the whole and sent a part (206)")
        #expect(self.text == nil)
    }

    @Test func `a rest that ends early is an error, and the next download goes on behind it`() async throws {
        let origin = try RawOrigin { connection in
            while true {
                let range = try connection.readRequest()["Range"]
                let (first, last) = range == "bytes=5-" ? (5, 6) : (7, 9)
                let body = Self.whole.dropFirst(first).prefix(last - first + 1)
                try connection.send(
                    "HTTP/1.1 206 Partial\r\nContent-Range: bytes \(first)-\(last)/10\r\nETag: \"v1\"\r\n"
                        + "Content-Length: \(body.count)\r\n\r\n\(body)")
            }
        }
        let error = await sessionError { _ = try await self.download(from: origin) }
        #expect(error?.code == .truncated)
        #expect(error?.message == "127.0.0.1:\(origin.port) has sent 7 bytes of 10; ask again to go on")
        #expect(self.folder.names == ["out.part", "out.part.json"])
        _ = try await self.stage.session.download(
            request(origin.port, "/big"), to: .file(self.folder.path("out")))
        #expect(self.text == Self.whole && origin.requests.map { $0["Range"] } == ["bytes=5-", "bytes=7-"])
    }

    @Test func `a rest that is longer than announced is an error, and nothing of it is gone on with`() async throws {
        let origin = try self.origin(
            Answer("long", ["Content-Range: bytes 5-9/10", "ETag: \"v1\""], "56789ABC"))
        let error = await sessionError { _ = try await self.download(from: origin) }
        #expect(error?.code == .malformedResponse && self.folder.names.isEmpty)
        #expect(error?.message == "127.0.0.1:\(origin.port) has sent more than the 10 bytes that it announced")
    }

    @Test func `a rest that is cut keeps what has come, under the validator that it had`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            // No ETag, and no date that could be one: the If-Range was obeyed, so the old one still holds.
            try connection.send("HTTP/1.1 206 P\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n567")
        }
        try LeftOver(in: self.folder, of: origin.port).write(Array("01234".utf8), length: 10)
        let task = try self.stage.session.downloadTask(
            request(origin.port, "/big"), to: .file(self.folder.path("out")))
        task.resume()
        #expect(await sessionError { _ = try await task.value() }?.code == .truncated)
        let part = try #require(task.partialDownload)
        #expect(part.offset == 8 && part.validator == "\"v1\"" && part.length == 10)
        #expect(self.folder.bytes("out.part") == Array("01234567".utf8))
    }

    @Test(arguments: ["404 Not Found", "503 Service Unavailable"])
    func `a refusal for now leaves the part as it was`(status: String) async throws {
        let origin = try self.origin(Answer("refused", [], "not now", status: status))
        #expect(await sessionError { _ = try await self.download(from: origin) }?.code == .rejected)
        #expect(self.folder.names == ["out.part", "out.part.json"])
        #expect(self.folder.bytes("out.part") == Array("01234".utf8))
    }

    @Test func `a server that cannot be reached leaves the part as it was`() async throws {
        let origin = try RawOrigin(answering: response("gone"))
        origin.stop()
        #expect(await sessionError { _ = try await self.download(from: origin) }?.code == .connectionRefused)
        #expect(self.folder.names == ["out.part", "out.part.json"])
        #expect(self.folder.bytes("out.part") == Array("01234".utf8))
    }

    @Test(arguments: [true, false])
    func `range and validator go along with redirects, secrets only to the same origin`(isSame: Bool) async throws {
        let rest = Answer("rest", ["Content-Range: bytes 5-9/10", "ETag: \"v1\""])
        let target = try self.origin(rest)
        let origin = try RawOrigin { connection in
            while true {
                let path = try connection.readRequest().head.startLine.split(separator: " ")[1]
                if path == "/there" { try connection.send(rest.text) }
                let place = isSame ? "/there" : "http://127.0.0.1:\(target.port)/there"
                try connection.send("HTTP/1.1 302 Found\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        try LeftOver(in: self.folder, of: origin.port).write(Array("01234".utf8), length: 10)
        let wanted = request(origin.port, "/big", fields: ["Authorization": "secret"])
        _ = try await self.stage.session.download(wanted, to: .file(self.folder.path("out")))
        let last = try #require(isSame ? origin.requests.last : target.requests.last)
        #expect(last["Range"] == "bytes=5-" && last["If-Range"] == "\"v1\"" && self.text == Self.whole)
        #expect(last["Authorization"] == (isSame ? "secret" : nil))
    }
}
