// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Origins that log a connection in, and not a request (RFC 4559 §6).
struct ConnectionLoginTests {
    /// An origin that authenticates a connection for a user by three messages, like NTLM; otherwise it answers 401.
    private static func origin(_ scheme: String) throws -> RawOrigin {
        try RawOrigin { connection in
            var user: String?
            var challenge: String?
            while true {
                let request = try connection.readRequest()
                let words = (request["Authorization"] ?? "").split(separator: " ").map(String.init)
                var fields = "WWW-Authenticate: \(scheme)\r\n"
                if words.first == scheme, words.count == 2 {
                    user = nil
                    if words[1] == "begin" {
                        challenge = "challenge-\(connection.number)"
                        fields = "WWW-Authenticate: \(scheme) challenge-\(connection.number)\r\n"
                    } else if let challenge, words[1].hasSuffix("@\(challenge)") {
                        user = String(words[1].prefix { $0 != "@" })
                    }
                }
                if let user {
                    try connection.send(response(user, fields: "Cache-Control: max-age=60\r\n"))
                } else {
                    try connection.send(response("nobody", status: "401 Unauthorized", fields: fields))
                }
            }
        }
    }

    /// Logs in over one connection to the proxy, and asks as often as it should.
    private func session(_ user: String, _ scheme: String, _ pintle: PintleProcess, _ port: Int) throws -> [String] {
        let client = try pintle.connect()
        func ask(_ authorization: String?) throws -> Message {
            try client.send(get(port, fields: authorization.map { "Authorization: \(scheme) \($0)\r\n" } ?? ""))
            return try client.readResponse()
        }
        let challenge = try ask("begin")["WWW-Authenticate"]?.split(separator: " ").last.map(String.init) ?? ""
        var names = [try ask("\(user)@\(challenge)").text]
        for _ in 0..<20 { names.append(try ask(nil).text) }
        return names
    }

    @Test(arguments: ["NTLM", "Negotiate"], ["", "routes: [{name: kept, cache: {policy: protocol}, coalesce: {}}]"])
    func `LOOK-65 a connection on which a client has logged in serves no other client`(
        scheme: String, routes: String
    ) throws {
        let origin = try Self.origin(scheme)
        let pintle = try PintleProcess("engine: {threads: 1}\ncache: {disk: off}\n\(routes)")
        let wrong = Watched<[String]>([])
        let done = Watched(0)
        for number in 0..<20 {
            Thread.detachNewThread {
                do {
                    if number % 2 == 0 {
                        let names = try self.session("user\(number)", scheme, pintle, origin.port)
                        wrong.change { $0 += names.filter { $0 != "user\(number)" } }
                    } else {
                        // Clients without a login have no user, even if their connection was used with one before.
                        for _ in 0..<20 {
                            let text = try pintle.ask(get(origin.port)).text
                            if text != "nobody" { wrong.change { $0.append("nobody is \(text)") } }
                        }
                    }
                } catch {
                    wrong.change { $0.append("\(error)") }
                }
                done.change { $0 += 1 }
            }
        }
        try done.wait(for: "all clients") { $0 == 20 }
        #expect(wrong.current.isEmpty, "\(wrong.current)")
    }

    @Test func `LOOK-65 a connection that is a client's closes with it`() throws {
        let ended = Watched(0)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("", status: "401 Unauthorized", fields: "WWW-Authenticate: NTLM\r\n"))
            _ = try connection.waitForEnd()
            ended.change { $0 += 1 }
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let client = try pintle.connect()
        try client.send(get(origin.port))
        #expect(try client.readResponse().status == 401)
        client.close()
        try ended.wait(for: "the origin's connection to close") { $0 == 1 }
    }
}
