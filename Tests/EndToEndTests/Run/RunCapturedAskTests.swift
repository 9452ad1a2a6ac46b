// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Questions about the destinations of captured connections (`pintle run --isolate`), answered on the page.
@Suite(
    .enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"), .timeLimit(.minutes(15)))
struct RunCapturedAskTests {
    private static let machine = "host.pintle.internal"

    /// Runs a command of Python whose only connection is asked about.
    private func run(_ command: String, _ answer: String) throws -> ChildProcess {
        let stage = try RunStage("destinations: {default: deny, ask: [\(Self.machine)]}\nisolate: {other_tcp: allow}")
        let process = try stage.start(
            ["--isolate", "--devtools"],
            ["env", "-u", "http_proxy", "-u", "https_proxy", "/usr/bin/python3", "-c", command])
        let prefix = "pintle: the page is at "
        let line = try process.waitForLine("the link of the page") { $0.hasPrefix(prefix) }
        let asked = try AskedProcess(link: String(line.dropFirst(prefix.count)))
        while try asked.questions().isEmpty {
            guard process.exitCode == nil else { throw TestFailure("no question: \(process.lines)") }
        }
        #expect(try asked.questions().first?["host"] as? String != nil)
        #expect(try asked.reply(answer, "once").status == 204)
        try process.waitForExit()
        return process
    }

    /// The beginning of a program that connects to an origin.
    private func connecting(to port: Int) -> String {
        "import socket, sys; say = lambda word: sys.stdout.write(str(word) + chr(10)); s = socket.create_connection((\"\(Self.machine)\", \(port))); "
    }

    @Test(arguments: ["allow", "deny"])
    func `a request in clear waits`(answer: String) throws {
        let origin = try RawOrigin(answering: response("here"))
        let process = try self.run(
            self.connecting(to: origin.port)
                + "s.sendall(b\"GET / HTTP/1.1\\r\\nHost: \(Self.machine):\(origin.port)\\r\\n\\r\\n\"); say(s.recv(12))",
            answer)
        #expect(process.output == ["b'HTTP/1.1 \(answer == "allow" ? 200 : 403)'"], "\(process.lines)")
        #expect(origin.connections.count == (answer == "allow" ? 1 : 0))
    }

    @Test(arguments: ["allow", "deny"])
    func `a client that waits for its server to speak waits for the answer, too`(answer: String) throws {
        let origin = try RawOrigin { connection in
            try connection.send("220 hello")
            _ = try connection.waitForEnd()
        }
        let process = try self.run(
            self.connecting(to: origin.port)
                + "\ntry: say(s.recv(9))\nexcept OSError as error: say(type(error).__name__)", answer)
        let expected = answer == "allow" ? ["b'220 hello'"] : ["ConnectionResetError", "b''"]
        #expect(process.output.count == 1 && expected.contains(process.output[0]), "\(process.lines)")
        #expect(origin.connections.count == (answer == "allow" ? 1 : 0))
    }

    @Test func `a client of another protocol waits`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.stream.read(4)
            try connection.send("pong")
        }
        let process = try self.run(
            self.connecting(to: origin.port) + "s.sendall(b\"\\x00\\x01\\x02\\x03\"); say(s.recv(4))", "allow")
        #expect(process.output == ["b'pong'"], "\(process.lines)")
    }

    @Test func `a handshake of TLS waits`() throws {
        let server = try OpenSSLServer([try TestPKI().selfSigned(dns: [Self.machine])])
        let process = try self.run(
            self.connecting(to: server.port)
                + """
                import ssl; context = ssl.create_default_context(); context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
                say(context.wrap_socket(s, server_hostname=\"\(Self.machine)\").version() is not None)
                """, "allow")
        #expect(process.output == ["True"], "\(process.lines)")
    }
}
