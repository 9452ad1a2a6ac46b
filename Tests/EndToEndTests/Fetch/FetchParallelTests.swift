// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `fetch --parallel`: several URLs at a time.
struct FetchParallelTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func text(_ name: String) -> String? {
        contents("\(self.folder.path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `each body is in a file named as its URL`() throws {
        let nginx = try NginxOrigin()
        let names = (0..<9).map { "file \($0).bin" }
        for (number, name) in names.enumerated() { try nginx.serve(pattern(100_000 + number), as: name) }
        let urls = names.map { "http://127.0.0.1:\(nginx.httpPort)/files/\($0.replacing(" ", with: "%20"))" }
        let process = try PintleProcess.run(
            ["fetch", "--parallel", "4", "-o", self.folder.path, "--metrics"] + urls)
        #expect(process.exitCode == 0, "\(process.lines)")
        for (number, name) in names.enumerated() {
            #expect(contents("\(self.folder.path)/\(name)") == pattern(100_000 + number))
        }
        #expect(metrics(process.output).map { $0["url"] as? String } == urls, "in the order of the command line")
    }

    @Test func `so many run at a time, and no more`() throws {
        let release = Watched(false)
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            try release.wait(for: "the test to go on") { $0 }
            let path = request.head.startLine.split(separator: " ")[1]
            try connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n\(path)")
        }
        let urls = ["a", "b", "c", "d"].map { "http://127.0.0.1:\(origin.port)/\($0)" }
        let process = try ChildProcess(
            PintleProcess.binary, ["fetch", "--parallel", "2", "-o", self.folder.path] + urls)
        try origin.waitForRequests(2)
        #expect(Set(origin.requests.map(\.head.startLine)) == ["GET /a HTTP/1.1", "GET /b HTTP/1.1"])
        release.change { $0 = true }
        #expect(try process.waitForExit() == 0, "\(process.lines)")
        #expect(["a", "b", "c", "d"].map(self.text) == ["/a", "/b", "/c", "/d"])
    }

    @Test func `a URL that is given twice is one transfer with one file`() throws {
        let origin = try RawOrigin(answering: response("x"))
        let base = "http://127.0.0.1:\(origin.port)"
        let process = try fetch(
            "\(base)/a", "\(base)/b", "\(base)/a", "--parallel", "3", "-o", self.folder.path, "--metrics")
        #expect(process.exitCode == 0 && process.output.count == 2, "\(process.lines)")
        #expect(origin.requests.map(\.head.startLine).sorted() == ["GET /a HTTP/1.1", "GET /b HTTP/1.1"])
        #expect(["a", "b"].map(self.text) == ["x", "x"])
    }

    @Test func `one that fails does not hold up the others, and the worst one is the exit code`() throws {
        let nginx = try NginxOrigin()
        let dead = try FreePort.find()
        let base = "http://127.0.0.1:\(nginx.httpPort)"
        let some = try fetch(
            "\(base)/status/404", "\(base)/hello", "--parallel", "2", "-o", self.folder.path)
        #expect(some.exitCode == 1 && self.text("hello") == "hello\n" && self.text("404") == nil)
        #expect(some.errors == ["pintle fetch: 404: Request failed: not found (404)"])
        let worse = try fetch(
            "\(base)/status/404", "http://127.0.0.1:\(dead)/gone", "\(base)/html", "--parallel", "1", "-o",
            self.folder.path)
        #expect(worse.exitCode == 4 && worse.errors.count == 2 && self.text("html") == "<p>hello</p>", "\(worse.lines)")
        #expect(worse.errors.last?.hasPrefix("pintle fetch: gone: 127.0.0.1:\(dead) refused") == true)
    }

    @Test func `a body is sent to each`() throws {
        let origin = try RawOrigin(answering: response("x"))
        let file = try self.folder.write("[1,2,3]", to: "body.json")
        let base = "http://127.0.0.1:\(origin.port)"
        let process = try fetch(
            "PUT", "\(base)/a", "\(base)/b", "--json", file, "--parallel", "2", "-o", self.folder.path)
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(origin.requests.map(\.text) == ["[1,2,3]", "[1,2,3]"])
    }

    @Test func `each goes on where it ended`() throws {
        let (one, two) = (try InterruptedOrigin(), try InterruptedOrigin())
        for origin in [one, two] { origin.release.change { $0 = true } }
        let arguments = [
            "fetch", "--parallel", "2", "-o", self.folder.path, one.url,
            "http://127.0.0.1:\(two.origin.port)/second.bin",
        ]
        let cut = try PintleProcess.run(arguments)
        #expect(
            cut.exitCode == 4 && cut.errors.count { $0.contains("--resume goes on with them") } == 2, "\(cut.lines)")
        let rest = try PintleProcess.run(arguments + ["--resume"])
        #expect(rest.exitCode == 0, "\(rest.lines)")
        for (origin, name) in [(one, "data.bin"), (two, "second.bin")] {
            #expect(contents("\(self.folder.path)/\(name)") == origin.whole)
            #expect(origin.origin.requests.last?["Range"] == "bytes=\(origin.firstPart)-")
        }
    }
}
