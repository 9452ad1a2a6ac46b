// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The examples that move files: a download in two runs, and an upload that is asked for a password.
struct TransferExampleTests {
    private let folder: TemporaryFolder
    private let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    init() throws { self.folder = try TemporaryFolder() }

    private func content(_ path: String) -> [UInt8]? { fileBytes(path) }

    // MARK: Download

    @Test func `a download that is stopped after some bytes is resumed by the next run`() throws {
        let origin = try NginxOrigin(locations: "limit_rate 300k;\n")
        try origin.serve(self.bytes, as: "big")
        let (url, path) = ("http://127.0.0.1:\(origin.httpPort)/files/big", "\(self.folder.path)/big")

        let first = try ExampleProcess.run(["download", url, path, "100000"])
        #expect(first.exitCode == 0, "\(first.lines)")
        #expect(
            first.output.first?.wholeMatch(of: /stopped: \d{6} bytes are kept; run again.*/) != nil, "\(first.lines)")
        #expect(self.content(path) == nil && self.content("\(path).part") != nil)

        let second = try ExampleProcess.run(["download", url, path])
        #expect(second.exitCode == 0 && second.output == ["resumed: \(path), 600000 bytes"], "\(second.lines)")
        #expect(second.errors.last == "100 %, 600000 bytes", "\(second.lines)")
        #expect(self.content(path) == self.bytes)
        #expect(self.content("\(path).part") == nil && self.content("\(path).part.json") == nil)
    }

    @Test func `Ctrl-C stops a download, and the next run asks for the rest`() throws {
        let bytes = self.bytes
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            let validators = "ETag: \"one\"\r\nContent-Type: application/octet-stream\r\n"
            if let range = request["Range"] {
                let offset = Int(range.filter(\.isNumber)) ?? 0
                try connection.send(
                    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(offset)-\(bytes.count - 1)/\(bytes.count)"
                        + "\r\nContent-Length: \(bytes.count - offset)\r\n\(validators)\r\n")
                try connection.stream.send(Array(bytes[offset...]))
            } else {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\(validators)\r\n")
                try connection.stream.send(Array(bytes[..<(bytes.count / 2)]))
            }
            _ = try connection.waitForEnd()
        }
        let (url, path) = ("http://127.0.0.1:\(origin.port)/big", "\(self.folder.path)/big")

        let first = try ExampleProcess.start(["download", url, path])
        try first.waitForLine("half of the file") { $0 == "50 %, 300000 bytes" }
        first.signal(SIGINT)
        #expect(try first.waitForExit() == 0, "\(first.lines)")
        #expect(first.output == ["stopped: 300000 bytes are kept; run again for the rest"], "\(first.lines)")

        let second = try ExampleProcess.run(["download", url, path])
        #expect(second.output == ["resumed: \(path), 600000 bytes"], "\(second.lines)")
        let asked = try origin.waitForRequests(2)[1]
        #expect(asked["Range"] == "bytes=300000-" && asked["If-Range"] == "\"one\"")
        #expect(self.content(path) == bytes)
    }

    @Test func `an error page does not become the file`() throws {
        let origin = try NginxOrigin()
        let path = "\(self.folder.path)/none"
        let process = try ExampleProcess.run(["download", "http://127.0.0.1:\(origin.httpPort)/status/404", path])
        #expect(process.exitCode == 1 && process.output == ["failed: Request failed: not found (404)"])
        #expect(self.content(path) == nil)
    }

    // MARK: Upload

    /// Returns an origin that accepts the files after Digest authentication.
    private func digestOrigin() throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let isAnswer = request["Authorization"]?.contains("username=\"ada\"") == true
                try connection.send(
                    isAnswer
                        ? "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nWWW-Authenticate: Basic realm=\"files\"\r\n"
                            + "WWW-Authenticate: Digest realm=\"files\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256"
                            + "\r\n\r\n")
            }
        }
    }

    @Test func `files are sent as a form, again after a Digest challenge`() throws {
        let origin = try self.digestOrigin()
        let file = try self.folder.write(self.bytes, to: "scan.bin")
        let note = try self.folder.write(Array("a note".utf8), to: "note.txt")
        let process = try ExampleProcess.run(
            ["upload", "http://127.0.0.1:\(origin.port)/in", "system", "ada", file, note],
            environment: ["UPLOAD_PASSWORD": "secret"])
        #expect(process.exitCode == 0 && process.output.count == 3, "\(process.lines)")

        let sent = try origin.waitForRequests(2)[1]
        #expect(sent["Authorization"]?.hasPrefix("Digest ") == true)
        #expect(sent["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(sent.body.count > self.bytes.count && sent.text.contains("filename=\"scan.bin\""))
        #expect(sent.text.contains("a note"))
        #expect(process.output.first == "status 201, \(sent.body.count) bytes sent")
        #expect(
            process.output[1].wholeMatch(of: /127\.0\.0\.1 by HTTP\/1\.1 on a new connection, [0-9.e-]+ seconds/)
                != nil,
            "\(process.lines)")
        #expect(process.output[2].contains("127.0.0.1 by HTTP/1.1 on the same connection"), "\(process.lines)")
    }

    @Test func `Basic is answered over https only`() throws {
        let pki = TestPKI()
        let root = try pki.root()
        let leaf = try pki.leaf(dns: ["localhost"], signedBy: root)
        let passwords = try self.folder.write("ada:{PLAIN}secret\n", to: "passwords")
        let roots = try self.folder.write(root.certificatePEM, to: "root.pem")
        let behind = try RawOrigin(answering: "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        // nginx's workers may run as another user.
        chmod(self.folder.path, 0o755)
        chmod(passwords, 0o644)
        let origin = try NginxOrigin(
            https: [leaf],
            locations: """
                location = /in {
                    auth_basic "files";
                    auth_basic_user_file \(passwords);
                    proxy_pass http://127.0.0.1:\(behind.port);
                }
                """)
        func upload(to url: String, password: String = "secret") throws -> ChildProcess {
            try ExampleProcess.run(
                ["upload", url, roots, "ada", passwords], environment: ["UPLOAD_PASSWORD": password])
        }
        let secure = try upload(to: "https://localhost:\(origin.httpsPort)/in")
        #expect(secure.exitCode == 0 && secure.output.first?.hasPrefix("status 201") == true, "\(secure.lines)")
        #expect(behind.requests.count == 1 && behind.requests[0].text.contains("ada:{PLAIN}secret"))

        for process in [
            try upload(to: "http://localhost:\(origin.httpPort)/in"),
            try upload(to: "https://localhost:\(origin.httpsPort)/in", password: "wrong"),
        ] {
            #expect(process.exitCode == 1 && process.output.first?.hasPrefix("status 401") == true, "\(process.lines)")
        }
        #expect(behind.requests.count == 1)
    }
}
