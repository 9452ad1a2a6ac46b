// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleAdmin
import PintleTesting
import Testing

/// The doors of the admin endpoint of a running proxy (contract §4). `PintleAdminTests` has the rules in full.
struct AdminAccessTests {
    /// The arguments of curl for a request to a path of an endpoint.
    private static func arguments(_ endpoint: AdminEndpoint) -> (path: String, method: [String]) {
        let name = endpoint == .assets ? "style.css" : "x"
        return (endpoint.rawValue.replacingOccurrences(of: "*", with: name), ["-X", endpoint.methods[0]])
    }

    @Test func `each endpoint refuses strangers with a sentence`() throws {
        let stage = try AdminStage()
        for endpoint in AdminEndpoint.allCases {
            let (path, method) = Self.arguments(endpoint)
            let open = try Curl.run(method + [stage.address + path])
            switch endpoint.access {
            // Without a webhook there is no signature that counts.
            case .signed: #expect(open.status == 404, "\(path): \(open)")
            case .open: #expect([200, 404].contains(open.status), "\(path): \(open)")
            // Without its secret it is a path like any other.
            case .reading, .changing, .secretPath: #expect(open.status == 401, "\(path): \(open)")
            case .signingIn: #expect(open.status == 403, "\(path): \(open)")
            }
            for strange in [["-H", "Host: evil.example"], ["-H", "Origin: http://evil.example"]] {
                let refused = try Curl.run(
                    method + strange + ["-H", "Authorization: Bearer \(stage.token)", stage.address + path])
                #expect([403, 421].contains(refused.status), "\(path): \(refused)")
                #expect((refused.json["detail"] as? String)?.contains("evil.example") == true, "\(refused)")
            }
            #expect(open["Content-Security-Policy"]?.contains("unsafe") == false, "\(path): \(open)")
            #expect(open["Access-Control-Allow-Origin"] == nil)
        }
    }

    @Test func `the token is in a file that only its user can read, and goes with the process`() throws {
        let stage = try AdminStage()
        let file = "\(stage.folder.path)/pintle/run/\(stage.pintle.process.pid).token"
        var status = stat()
        #expect(lstat(file, &status) == 0 && status.st_mode & 0o777 == 0o600 && status.st_uid == getuid())
        // The log of a process without a terminal has the address, and not the token.
        #expect(!stage.pintle.process.lines.contains { $0.text.contains(stage.token) })
        let told = try PintleProcess.run(["status"], environment: ["XDG_STATE_HOME": stage.folder.path])
        #expect(told.output.contains("admin: \(stage.address)/#token=\(stage.token)"), "\(told.output)")
        #expect(try stage.pintle.stop() == 0)
        #expect(access(file, F_OK) != 0)
    }

    @Test func `a browser trades the token for a cookie, which is good for its own endpoint`() throws {
        let (one, two) = (try AdminStage(), try AdminStage())
        let jar = "\(one.folder.path)/jar"
        func ask(_ stage: AdminStage, _ path: String, _ more: String...) throws -> Curl.Result {
            try Curl.run(["-b", jar, "-c", jar, stage.address + path] + more)
        }
        let page = ["-H", "Sec-Fetch-Site: same-origin"]
        #expect(try ask(one, "/").status == 401)
        #expect(try Curl.run(["-b", jar, "-c", jar, "-d", "wrong", one.address + "/api/session"] + page).status == 401)
        for stage in [one, two] {
            let signedIn = try Curl.run(
                ["-b", jar, "-c", jar, "-d", stage.token, stage.address + "/api/session"] + page)
            #expect(signedIn.status == 204)
            let cookie = try #require(signedIn["Set-Cookie"])
            #expect(
                cookie.hasPrefix("pintle-\(stage.port)=") && cookie.contains("HttpOnly; SameSite=Strict"), "\(cookie)")
            #expect(!cookie.contains(stage.token))
        }
        // Both at once, in one browser.
        for stage in [one, two] {
            #expect(try ask(stage, "/").status == 200)
            #expect(
                try ask(stage, "/api/activity").json["status"] as? String
                    == "listening on 127.0.0.1:\(stage.pintle.port)")
            #expect(try ask(stage, "/api/reload", "-X", "POST").status == 403)
            #expect(try ask(stage, "/api/reload", "-X", "POST", "-H", "Sec-Fetch-Site: same-origin").status == 200)
        }
        #expect(try ask(one, "/api/session", "-X", "DELETE", "-H", "Sec-Fetch-Site: same-origin").status == 204)
        #expect(try ask(one, "/api/activity").status == 401)
        #expect(try ask(two, "/api/activity").status == 200)
    }

    @Test func `the proxy leads nobody to it, by no spelling`() throws {
        let stage = try AdminStage("destinations: {default: allow, private_addresses: allow}")
        let spellings = [
            "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "0",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.0.0.1.",
        ]
        for host in spellings {
            let plain = try Curl.run(proxy: stage.pintle.port, "http://\(host):\(stage.port)/healthz", "-H", "Host: x")
            #expect([400, 403, 502].contains(plain.status) && plain.text != "ok\n", "\(host): \(plain)")
            let tunnel = try Curl.run(proxy: stage.pintle.port, "-p", "http://\(host):\(stage.port)/healthz")
            #expect(tunnel.exitCode != 0 && tunnel.text != "ok\n", "\(host): \(tunnel)")
        }
        #expect(try Curl.run("\(stage.address)/healthz").text == "ok\n")
    }

    @Test func `no upstream proxy leads back to it, by no spelling`() throws {
        let parent = try PintleProcess("destinations: {default: allow, private_addresses: allow}")
        let stage = try AdminStage(
            """
            destinations: {default: allow, private_addresses: allow}
            upstream_proxy: {url: "http://127.0.0.1:\(parent.port)"}
            via: inner
            """)
        for host in ["127.0.0.1", "localhost", "a.localhost", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]"] {
            for port in [stage.port, stage.pintle.port] {
                let plain = try Curl.run(proxy: stage.pintle.port, "http://\(host):\(port)/healthz", "-H", "Host: x")
                #expect(plain.status == 403 && plain.problem == "destination-denied", "\(host): \(plain)")
                let tunnel = try Curl.run(proxy: stage.pintle.port, "-p", "http://\(host):\(port)/healthz")
                #expect(tunnel.exitCode != 0 && tunnel.text != "ok\n", "\(host): \(tunnel)")
            }
        }
        let other = try Curl.run(proxy: stage.pintle.port, "http://127.0.0.1:\(stage.origin.port)/")
        #expect(other.text == "12345", "\(other)")
    }

    @Test func `intercepted tunnels lead nobody to it`() throws {
        let stage = try AdminStage()
        let home = ["XDG_DATA_HOME": stage.folder.path, "XDG_STATE_HOME": stage.folder.path]
        #expect(try PintleProcess.run(["ca", "init"], environment: home).exitCode == 0)
        let (folder, port) = (stage.folder, stage.port)
        let other = try PintleProcess(
            "admin: \"127.0.0.1:0\"\ninterception: {hosts: [\"127.0.0.1\"]}\ndestinations: {private_addresses: allow}",
            environment: home, folder: try TemporaryFolder())
        _ = (folder, port)
        let line = try other.waitForMessages("ready")[0]
        let own = try #require((line["admin"] as? String)?.dropLast().split(separator: ":").last.flatMap { Int($0) })
        let inside = try Curl.run(proxy: other.port, "-k", "https://127.0.0.1:\(own)/healthz")
        #expect(inside.status == 403 && inside.problem == "destination-denied", "\(inside)")
    }

    @Test func `over a Unix socket its user needs no token`() throws {
        let folder = try TemporaryFolder()
        let stage = try AdminStage(admin: "unix:\(folder.path)/admin")
        let answer = try Curl.run("--unix-socket", "\(folder.path)/admin", "http://any.name/api/activity")
        #expect(answer.status == 200, "\(answer)")
        #expect(
            try Curl.run("--unix-socket", "\(folder.path)/admin", "-X", "POST", "http://any.name/api/reload").status
                == 200)
        var status = stat()
        #expect(lstat("\(folder.path)/admin", &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try stage.pintle.stop() == 0)
        #expect(access("\(folder.path)/admin", F_OK) != 0)
    }

    @Test func `without a configuration file, an address that is taken is a warning, and with one an error`() throws {
        let stage = try AdminStage()
        let folder = try TemporaryFolder()
        let settings = try folder.write(
            "version: 1\nlisten: [\"127.0.0.1:0\"]\nadmin: \"127.0.0.1:\(stage.port)\"\n", to: "p.yaml")
        let refused = try PintleProcess.run(
            ["serve", "-c", settings], environment: ["XDG_STATE_HOME": folder.path, "HOME": folder.path])
        #expect(refused.exitCode == 4)
        #expect(
            refused.errors.contains { $0.contains("admin: cannot listen on 127.0.0.1:\(stage.port)") },
            "\(refused.errors)")
    }

    @Test func `bad requests end neither the endpoint nor the proxy`() throws {
        let stage = try AdminStage()
        for bytes in [
            "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /api/events HTTP/1.0\r\n\r\n",
            "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
        ] {
            let stream = try SocketStream(port: stage.port)
            try stream.send(bytes)
            let text = String(decoding: try stream.readToEnd().bytes, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 4") || text.hasPrefix("HTTP/1.1 5"), "\(text)")
        }
        let long = try stage.ask("/api/preview", "-X", "POST", "-d", String(repeating: "a: ", count: 20_000))
        #expect(long.status == 422)
        #expect(try Curl.run("\(stage.address)/healthz").text == "ok\n")
        #expect(try stage.pass("/").status == 200)
    }
}
