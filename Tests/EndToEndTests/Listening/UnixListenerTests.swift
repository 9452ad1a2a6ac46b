// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Clients on a Unix socket: `listen: ["unix:PATH"]`.
struct UnixListenerTests {
    let folder: TemporaryFolder
    let origin: RawOrigin
    /// The path of the socket.
    let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
        self.path = "\(self.folder.path)/pintle.sock"
    }

    private func start(_ more: String = "") throws -> PintleProcess {
        try PintleProcess(more, arguments: ["--listen", "unix:\(self.path)"], folder: self.folder)
    }

    private func ask() throws -> Message {
        let client = try SocketStream(path: self.path)
        try client.send(get(self.origin.port))
        return try client.readResponse(to: "GET")
    }

    private func status() throws -> stat {
        var status = stat()
        guard lstat(self.path, &status) == 0 else { throw TestFailure("no \(self.path): errno \(errno)") }
        return status
    }

    @Test func `requests and tunnels work, and the log names the user`() throws {
        // The mode of a socket decides on its clients; networks do not apply.
        let pintle = try self.start("clients: {allow: [\"192.0.2.1\"]}")
        #expect(try self.ask().text == "done")
        let client = try SocketStream(path: self.path)
        try client.send("CONNECT 127.0.0.1:\(self.origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse(to: "GET").text == "done")
        client.close()
        let exchanges = try pintle.waitForExchanges(2)
        #expect(exchanges.allSatisfy { $0["client"] as? String == "unix:\(getuid())" }, "\(exchanges)")
        #expect(try pintle.ask(get(self.origin.port)).status == 403)
        let port = try String(contentsOfFile: "\(self.folder.path)/port", encoding: .utf8)
        #expect(port == "\(pintle.port)\n\(self.path)\n")
        let listening = try pintle.waitForMessages("ready")[0]["listening"] as? String
        #expect(listening == "127.0.0.1:\(pintle.port) unix:\(self.path)")
    }

    @Test func `only its user may use the socket, and it goes with the proxy`() throws {
        let pintle = try self.start()
        #expect(try self.status().st_mode & 0o7777 == 0o600)
        #expect(try pintle.stop() == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: self.folder.path)
        #expect(!left.contains { $0.hasPrefix("pintle.sock") }, "\(left)")
    }

    @Test func `limits count the clients of one user`() throws {
        let pintle = try self.start("limits: {connections_per_client: 2}")
        let held = try [SocketStream(path: self.path), SocketStream(path: self.path)]
        for client in held {
            try client.send(get(self.origin.port))
            _ = try client.readResponse(to: "GET")
        }
        #expect(try self.ask().status == 503)
        #expect(try pintle.ask(get(self.origin.port)).status == 200)
    }

    @Test func `a socket that is left over is taken, one that is listened on is not`() throws {
        let killed = try self.start()
        killed.process.signal(SIGKILL)
        _ = try killed.process.waitForExit()
        #expect(throws: TestFailure.self) { _ = try SocketStream(path: self.path) }
        let next = try self.start()
        #expect(try self.ask().text == "done")
        let rival = try PintleProcess.run(["serve", "--listen", "unix:\(self.path)"], folder: self.folder.path)
        #expect(rival.exitCode == 4, "\(rival.lines)")
        #expect(rival.errors.contains { $0.contains("cannot listen on unix:\(self.path): address already in use") })
        #expect(try self.ask().text == "done")
        _ = next
    }

    @Test func `what others listen on, and what is no socket, stays`() throws {
        let other = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                "import socket,sys,signal; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); "
                    + "sys.stderr.write('listening\\n'); signal.pause()", self.path,
            ])
        try other.waitForLine("its socket") { $0 == "listening" }
        let refused = try PintleProcess.run(["serve", "--listen", "unix:\(self.path)"], folder: self.folder.path)
        #expect(refused.exitCode == 4, "\(refused.lines)")
        #expect(try self.status().st_mode & S_IFMT == S_IFSOCK)
        let file = try self.folder.write("precious", to: "notes")
        let again = try PintleProcess.run(["serve", "--listen", "unix:\(file)"], folder: self.folder.path)
        #expect(again.exitCode == 4, "\(again.lines)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
    }

    @Test func `many clients are spread over the loops and all are served`() throws {
        let pintle = try self.start("engine: {threads: 4}")
        let clients = try (0..<40).map { _ in try SocketStream(path: self.path) }
        for client in clients { try client.send(get(self.origin.port)) }
        for client in clients { #expect(try client.readResponse(to: "GET").text == "done") }
        // Each loop names its exchanges by its own number.
        let loops = Set(
            try pintle.waitForExchanges(40).compactMap { ($0["id"] as? String)?.split(separator: "-").first })
        #expect(loops.count == 4)
    }

    @Test(arguments: [
        ("unix:", "unix: is followed by the path of a socket"), ("unix:@name", "an abstract socket has no file"),
        ("unix:folder/", "unix: is followed by the path of a socket"),
        ("unix:/\(String(repeating: "x", count: 107))", "at most 107 bytes"),
    ])
    func `a place that cannot be is refused`(place: String, message: String) throws {
        let file = try self.folder.write("version: 1\nlisten: [\"\(place)\"]\n", to: "pintle.yaml")
        let check = try PintleProcess.run(["check", "-c", file])
        #expect(check.exitCode == 3, "\(check.lines)")
        #expect(
            check.errors.contains { $0.contains("pintle.yaml:2:10: listen[0]") && $0.contains(message) },
            "\(check.lines)")
    }
}
