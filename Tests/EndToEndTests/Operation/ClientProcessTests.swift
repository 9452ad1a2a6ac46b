// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import PintleTrust
import Testing

/// The processes of clients: in the log, at the admin endpoint and in filters.
struct ClientProcessTests {
    private static let number = Int(getpid())

    /// The outcomes of searches, by the metric.
    private func searches(_ address: String) throws -> [String: Int] {
        let lines = try Curl.run(["\(address)metrics"]).text.split(separator: "\n")
        var counts: [String: Int] = [:]
        for line in lines where line.hasPrefix("pintle_client_process_searches_total{") {
            let words = line.split(separator: " ")
            counts[String(words[0].dropFirst(46).dropLast(2))] = Int(words[1])
        }
        return counts
    }

    /// The kept exchanges, once one of them has a process.
    private func known(_ stage: AdminStage, _ query: String = "") throws -> [PintleProcess.Object] {
        var found: [PintleProcess.Object] = []
        try Patience.wait(for: "a process") {
            found = try stage.exchanges(query)
            return !found.isEmpty && found.allSatisfy { $0["pid"] != nil }
        }
        return found
    }

    @Test func `curl is named in the log, at the endpoint, in the archive and by filters`() throws {
        let stage = try AdminStage()
        let held = try HeldOrigin()
        let curl = try ChildProcess(
            "/usr/bin/curl",
            ["-s", "-x", "http://127.0.0.1:\(stage.pintle.port)", "http://127.0.0.1:\(held.origin.port)/held"])
        let number = Int(curl.pid)
        try Patience.wait(for: "the process of what is under way") {
            let running = try stage.ask("/api/running?filter=~proc+curl").json["exchanges"] as? [PintleProcess.Object]
            return running?.first?["pid"] as? Int == number
        }
        held.releaseAll()
        #expect(try curl.waitForExit() == 0)
        let line = try #require(try stage.pintle.waitForExchanges(1).first)
        #expect(line["process"] as? String == "curl" && line["pid"] as? Int == number, "\(line)")
        for filter in ["~proc+CURL", "~proc+\(number)", "~proc+/^cu/"] {
            #expect(try self.known(stage, "?filter=\(filter)").first?["process"] as? String == "curl", "\(filter)")
        }
        #expect(try stage.exchanges("?filter=~proc+cur").isEmpty)
        let log = try stage.ask("/api/har").json["log"] as? [String: any Sendable]
        let own = (log?["entries"] as? [PintleProcess.Object])?.first?["_pintle"] as? [String: any Sendable]
        #expect(own?["process"] as? String == "curl" && own?["pid"] as? Int == number, "\(own ?? [:])")
        #expect(try self.searches("\(stage.address)/") == ["found": 1, "missing": 0, "dropped": 0])
    }

    @Test func `clients over IPv6 and over a Unix socket have processes, too`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/clients.sock"
        let loopback = "[::1]"
        let stage = try AdminStage(arguments: ["--listen", "\(loopback):0", "--listen", "unix:\(path)"])
        let client = try SocketStream(path: path)
        try client.send(get(stage.origin.port))
        #expect(try client.readResponse(to: "GET").status == 200)
        let unix = try self.known(stage, "?filter=~proc+\(Self.number)")
        #expect(unix.count == 1 && unix[0]["client"] as? String == "unix:\(getuid())", "\(unix)")
        let held = try HeldOrigin()
        let curl = try ChildProcess(
            "/usr/bin/curl",
            ["-s", "-x", "http://[::1]:\(stage.pintle.ports[1])", "http://127.0.0.1:\(held.origin.port)/held"])
        try Patience.wait(for: "two processes") { try self.searches("\(stage.address)/")["found"] == 2 }
        held.releaseAll()
        #expect(try curl.waitForExit() == 0)
        let line = try #require(try stage.pintle.waitForExchanges(2).last)
        #expect(line["client"] as? String == "::1" && line["pid"] as? Int == Int(curl.pid), "\(line)")
    }

    @Test func `without a log, processes are sought as soon as somebody follows`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(log: "{format: json, exchanges: off}", folder: folder)
        let client = try pintle.connect()
        try client.send(get(origin.port))
        #expect(try client.readResponse(to: "GET").text == "done")
        let tail = try ChildProcess(
            PintleProcess.binary, ["tail", "--format", "json", "~proc \(Self.number)"],
            environment: ["XDG_STATE_HOME": folder.path])
        // The connection is older than the follower, so that its process is sought with the next exchange.
        try Patience.wait(for: "a line") {
            try client.send(get(origin.port))
            #expect(try client.readResponse(to: "GET").text == "done")
            return tail.output.contains { $0.contains("\"pid\":\(Self.number)") }
        }
        tail.signal(SIGTERM)
    }

    @Test func `requests inside an intercepted tunnel have the process of the tunnel's client`() throws {
        let folder = try TemporaryFolder()
        try AuthorityFolder("\(folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            "interception: {hosts: [127.0.0.1]}", environment: ["XDG_DATA_HOME": folder.path], folder: folder)
        let client = try pintle.connect()
        try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().status == 200)
        var count = 1
        try Patience.wait(for: "a line with the process") {
            try client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(try client.readResponse(to: "GET").text == "done")
            count += 1
            let line = try pintle.waitForExchanges(count)[count - 1]
            #expect(line["mode"] as? String == "intercept" && line["method"] as? String == "GET", "\(line)")
            return line["pid"] as? Int == Self.number
        }
    }

    @Test func `2,000 short connections are each searched for, or counted as dropped`() throws {
        let stage = try AdminStage()
        for _ in 0..<2000 {
            let client = try stage.pintle.connect()
            client.close()
        }
        try Patience.wait(for: "2,000 outcomes") { try self.searches("\(stage.address)/").values.reduce(0, +) == 2000 }
        // The next one is found.
        let client = try stage.pintle.connect()
        try client.send(get(stage.origin.port))
        #expect(try client.readResponse(to: "GET").status == 200)
        #expect(try self.known(stage)[0]["pid"] as? Int == Self.number)
    }

    @Test(.enabled(if: getuid() == 0, "only root can make processes of two users"))
    func `the process of another user is not named to a proxy that may not read it`() throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin(answering: response("done"))
        let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let giving = ["/bin/sh", "-c", "chown -R 65534:65534 \(folder.path); exec \"$@\"", "sh"]
        let pintle = try PintleProcess("admin: \"127.0.0.1:0\"", folder: folder, by: giving + nobody)
        let admin = try #require(try pintle.waitForMessages("ready")[0]["admin"] as? String)
        let client = try pintle.connect()
        try Patience.wait(for: "the search") { try self.searches(admin) == ["found": 0, "missing": 1, "dropped": 0] }
        try client.send(get(origin.port))
        #expect(try client.readResponse(to: "GET").text == "done")
        // A process of its own user is.
        let held = try HeldOrigin()
        let curl = try ChildProcess(
            nobody[0],
            Array(nobody.dropFirst()) + ["/usr/bin/curl", "-s", "-x", "http://127.0.0.1:\(pintle.port)"]
                + ["http://127.0.0.1:\(held.origin.port)/"])
        try Patience.wait(for: "the search") { try self.searches(admin)["found"] == 1 }
        held.releaseAll()
        #expect(try curl.waitForExit() == 0)
        let lines = try pintle.waitForExchanges(2)
        #expect(lines.map { $0["pid"] as? Int } == [nil, Int(curl.pid)], "\(lines)")
        #expect(lines.map { $0["process"] as? String } == [nil, "curl"], "\(lines)")
    }
}
