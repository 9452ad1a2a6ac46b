// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `fetch -o`: a file is there when it is whole, and never before.
struct FetchDownloadTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.file = "\(self.folder.path)/out.bin"
    }

    /// The names in the folder.
    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)) ?? []).sorted()
    }

    @Test func `a file is written, and the one that was there replaced`() throws {
        let nginx = try NginxOrigin()
        try nginx.serve(pattern(5 << 20), as: "data")
        try self.folder.write("older", to: "out.bin")
        let process = try fetch("http://127.0.0.1:\(nginx.httpPort)/files/data", "-o", self.file, "--metrics")
        #expect(process.exitCode == 0 && process.errors.isEmpty, "\(process.lines)")
        #expect(contents(self.file) == pattern(5 << 20) && self.names == ["out.bin"])
        let report = try #require(metrics(process.output).first, "metrics are data where the body is not")
        #expect(report["file"] as? String == self.file && report["bytes_received"] as? Int == 5 << 20)
    }

    @Test func `a pipe is written to, and stays a pipe`() throws {
        let nginx = try NginxOrigin()
        try nginx.serve(pattern(5 << 20), as: "data")
        let process = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                """
                mkfifo pipe
                cat pipe >copy & reader=$!
                "$0" fetch "$1" -o pipe; code=$?
                wait $reader
                [ -p pipe ] && exit $code
                """, PintleProcess.binary, "http://127.0.0.1:\(nginx.httpPort)/files/data",
            ], folder: self.folder.path)
        #expect(try process.waitForExit() == 0, "\(process.lines)")
        #expect(contents("\(self.folder.path)/copy") == pattern(5 << 20) && self.names == ["copy", "pipe"])
    }

    @Test(arguments: [
        ["/status/404"], ["/status/404", "--expect-status", "2xx"], ["/html", "--expect-type", "application/json"],
        ["/html", "--expect-body", "json"], ["/hello", "--expect-status", "404"],
    ])
    func `a response that is not as it has to be leaves the folder as it was`(arguments: [String]) throws {
        let nginx = try NginxOrigin()
        try self.folder.write("older", to: "out.bin")
        let process = try PintleProcess.run(
            ["fetch", "http://127.0.0.1:\(nginx.httpPort)\(arguments[0])", "-o", self.file] + arguments.dropFirst())
        #expect(process.exitCode == 1 && process.output.isEmpty && process.errors.count == 1, "\(process.lines)")
        #expect(contents(self.file) == Array("older".utf8) && self.names == ["out.bin"])
    }

    @Test func `a file that has not changed stays as it is`() throws {
        let origin = try RawOrigin(answering: "HTTP/1.1 304 Not Modified\r\nETag: \"one\"\r\n\r\n")
        try self.folder.write("older", to: "out.bin")
        let process = try fetch(
            "http://127.0.0.1:\(origin.port)/", "--header", "If-None-Match: \"one\"", "--expect-status", "200,304",
            "-o",
            self.file, "--metrics")
        let report = try #require(metrics(process.output).first, "\(process.lines)")
        #expect(process.exitCode == 0 && report["status"] as? Int == 304 && report["file"] == nil)
        #expect(contents(self.file) == Array("older".utf8) && self.names == ["out.bin"])
    }

    @Test func `the answer to a form can be a file`() throws {
        let origin = try RawOrigin(answering: response("made"))
        let process = try fetch("http://127.0.0.1:\(origin.port)/", "--form", "a=1", "-o", self.file)
        #expect(process.exitCode == 0 && contents(self.file) == Array("made".utf8), "\(process.lines)")
        #expect(origin.requests.first?.text == "a=1")
    }

    @Test func `a download that ends early leaves no file, and --resume goes on with the rest`() throws {
        let origin = try InterruptedOrigin()
        origin.release.change { $0 = true }
        let cut = try fetch(origin.url, "-o", self.file)
        #expect(cut.exitCode == 4 && contents(self.file) == nil, "\(cut.lines)")
        #expect(
            cut.errors.last == "  \(origin.firstPart) bytes are kept in \(self.file).part; --resume goes on with them")
        #expect(self.names == ["out.bin.part", "out.bin.part.json"])
        let rest = try fetch(origin.url, "-o", self.file, "--resume")
        #expect(rest.exitCode == 0 && contents(self.file) == origin.whole, "\(rest.lines)")
        #expect(origin.origin.requests.last?["Range"] == "bytes=\(origin.firstPart)-" && self.names == ["out.bin"])
    }

    @Test func `without --resume a download begins at zero`() throws {
        let origin = try InterruptedOrigin()
        origin.release.change { $0 = true }
        #expect(try fetch(origin.url, "-o", self.file).exitCode == 4)
        #expect(try fetch(origin.url, "-o", self.file).exitCode == 0)
        #expect(origin.origin.requests.last?["Range"] == nil && contents(self.file) == origin.whole)
        #expect(self.names == ["out.bin"])
    }

    @Test func `without --resume a download that gets no response leaves an earlier part alone`() throws {
        let origin = try InterruptedOrigin()
        origin.release.change { $0 = true }
        #expect(try fetch(origin.url, "-o", self.file).exitCode == 4)
        origin.origin.stop()
        let (part, note) = (contents("\(self.file).part"), contents("\(self.file).part.json"))
        let process = try fetch(origin.url, "-o", self.file)
        #expect(process.exitCode != 0 && part?.count == origin.firstPart && note != nil, "\(process.lines)")
        #expect(contents("\(self.file).part") == part && contents("\(self.file).part.json") == note)
    }

    @Test func `what was there of a file that has changed is not used`() throws {
        let changed = Array(pattern(12 << 20).reversed())
        let origin = try InterruptedOrigin(tags: ("\"one\"", "\"two\""), later: changed)
        origin.release.change { $0 = true }
        #expect(try fetch(origin.url, "-o", self.file).exitCode == 4)
        let process = try fetch(origin.url, "-o", self.file, "--resume")
        #expect(process.exitCode == 0 && contents(self.file) == changed, "\(process.lines)")
        #expect(origin.origin.requests.last?["If-Range"] == "\"one\"" && self.names == ["out.bin"])
    }

    @Test func `a file without a name for its version cannot be resumed, and nothing of it is kept`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        }
        let process = try fetch("http://127.0.0.1:\(origin.port)/x", "-o", self.file)
        #expect(process.exitCode == 4 && process.errors.count == 1 && self.names.isEmpty, "\(process.lines)")
    }

    @Test func `--resume with nothing there is a download`() throws {
        let origin = try RawOrigin(answering: response("all"))
        let process = try fetch("http://127.0.0.1:\(origin.port)/x", "-o", self.file, "--resume")
        #expect(process.exitCode == 0 && contents(self.file) == Array("all".utf8), "\(process.lines)")
        #expect(origin.requests.first?["Range"] == nil)
    }

    @Test func `--resume goes on after the program was killed`() throws {
        let origin = try InterruptedOrigin()
        let first = try PseudoTerminal(["fetch", origin.url, "-o", self.file])
        // Progress is shown after the bytes are written and noted.
        try first.waitForText("10.0 MiB")
        first.signal(SIGKILL)
        #expect(try first.waitForExit() == 137)
        origin.release.change { $0 = true }
        #expect(contents(self.file) == nil)
        let rest = try fetch(origin.url, "-o", self.file, "--resume")
        #expect(rest.exitCode == 0 && contents(self.file) == origin.whole, "\(rest.lines)")
        let range = origin.origin.requests.last?["Range"] ?? ""
        let start = Int(range.dropFirst(6).dropLast()) ?? 0
        #expect((8 << 20...origin.firstPart).contains(start), "what was noted is not asked for again: \(range)")
        #expect(self.names == ["out.bin"])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal keeps what has arrived for --resume`(signal: Int32) throws {
        let origin = try InterruptedOrigin()
        let first = try PseudoTerminal(["fetch", origin.url, "-o", self.file])
        try first.waitForText("10.0 MiB")
        first.signal(signal)
        #expect(try first.waitForExit() == 4)
        #expect(first.text.contains("pintle fetch: interrupted"), "\(first.text)")
        #expect(first.text.contains("--resume goes on with them"), "\(first.text)")
        origin.release.change { $0 = true }
        let rest = try fetch(origin.url, "-o", self.file, "--resume")
        #expect(rest.exitCode == 0 && contents(self.file) == origin.whole, "\(rest.lines)")
        #expect(origin.origin.requests.last?["Range"] == "bytes=\(origin.firstPart)-")
    }

    @Test func `a folder that cannot be written is named, and the exit code is 4`() throws {
        let origin = try RawOrigin(answering: response("all"))
        let process = try fetch("http://127.0.0.1:\(origin.port)/x", "-o", "/proc/nowhere/out")
        #expect(
            process.exitCode == 4 && process.errors.first?.contains("/proc/nowhere/out") == true, "\(process.lines)")
        #expect(origin.connections.isEmpty)
    }
}
