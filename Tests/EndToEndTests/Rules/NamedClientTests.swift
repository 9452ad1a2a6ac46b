// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Rules for users and tags, with users that authenticate: a client never gets what its own rules deny it, in whatever way it asks,
/// also if another client has got it before.
struct NamedClientTests {
    private static let users = """
        ana:$2y$04$abcdefghijklmnopqrstuuWXKr2BvN6MFBGmbO8G1GNLW0JIJkxnC
        ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K

        """
    private static let frame = "engine: {threads: 1}\nclients: {basic_auth: {users: users}}\ncache: {disk: off}\n"
    private static let (ana, ben) = ("ana:pass:wörd", "ben:other")
    /// For `a.localhost`: only ana may connect to its address.
    private static let networks = [
        "default: deny, allow: [{host: 127.0.0.0/8, users: [ana]}, 10.0.0.0/8]",
        "deny: [{host: 127.0.0.0/8, users: [ben]}, {host: \"::1\", users: [ben]}]",
        "private_addresses: deny, allow: [{host: a.localhost, users: [ana]}]",
    ]

    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write(Self.users, to: "users")
    }

    private func pintle(_ more: String, arguments: [String] = []) throws -> PintleProcess {
        try PintleProcess(
            Self.frame + more, arguments: arguments, environment: ["XDG_DATA_HOME": self.folder.path],
            folder: self.folder)
    }

    private static func field(_ user: String) -> String {
        "Proxy-Authorization: Basic \(Data(user.utf8).base64EncodedString())\r\n"
    }

    private func get(_ port: Int, _ path: String = "/", host: String = "a.localhost", of user: String) -> String {
        "GET http://\(host):\(port)\(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(Self.field(user))\r\n"
    }

    // MARK: Names

    @Test(arguments: [[], ["--proxytunnel"]])
    func `a destination is allowed to its users and tags alone`(arguments: [String]) throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try self.pintle(
            "destinations: {default: deny, allow: [{host: a.localhost, users: [ana]}, {host: b.localhost, tags: [\"suite-*\"]}]}"
        )
        for (host, user, passes) in [
            ("a", Self.ana, true), ("a", Self.ben, false), ("b", "ben+suite-1:other", true),
            ("b", "ben+x:other", false),
            ("b", Self.ana, false),
        ] {
            let result = try Curl.run(
                proxy: pintle.port, arguments + ["--proxy-user", user, "http://\(host).localhost:\(origin.port)/"])
            #expect((result.text == "done") == passes, "\(host) \(user): \(result)")
            guard !passes else { continue }
            #expect(result.head.startLine.hasPrefix("HTTP/1.1 403 "), "\(result)")
            #expect(result["Proxy-Status"]?.contains("is for other clients") == true, "\(result)")
        }
        let rules = try pintle.waitForExchanges(5).map { $0["rule"] as? String ?? "" }
        #expect(rules[0] == "destinations.allow[0] \"a.localhost\"" && rules[1].hasPrefix("destinations.default, and"))
    }

    @Test func `requests of one connection are judged by the user of each, also when they recur`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try self.pintle("destinations: {deny: [{host: a.localhost, users: [ben]}]}")
        let client = try pintle.connect()
        for round in 0..<4 {
            for (user, status) in [(Self.ana, 200), (Self.ben, 403)] {
                try client.send(self.get(origin.port, of: user))
                #expect(try client.readResponse().status == status, "\(user) in round \(round)")
            }
        }
        #expect(origin.requests.count == 4)
    }

    @Test func `a redirect that is followed leads only where the client may go`() throws {
        let port = Watched(0)
        let origin = try RawOrigin { connection in
            while true {
                let isFirst = try connection.readRequest().head.startLine.contains("/from")
                let target = "Location: http://b.localhost:\(port.current)/to\r\n"
                try connection.send(isFirst ? response("", status: "302 Found", fields: target) : response("done"))
            }
        }
        port.change { $0 = origin.port }
        let pintle = try self.pintle(
            "destinations: {deny: [{host: b.localhost, users: [ben]}]}\nroutes: [{name: r, redirects: follow}]")
        let client = try pintle.connect()
        for (user, status) in [(Self.ana, 200), (Self.ben, 403)] {
            try client.send(self.get(origin.port, "/from", of: user))
            #expect(try client.readResponse().status == status)
        }
        #expect(origin.requests.count == 3)
    }

    @Test func `the streams of a connection of HTTP/2 have each its user`() throws {
        let pki = TestPKI()
        let root = try pki.root("Root")
        _ = try self.folder.write(pki.leaf("proxy", ip: ["127.0.0.1"], signedBy: root), as: "proxy")
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try self.pintle(
            "listen_tls: {certificate: proxy.pem, key: proxy.key}\ndestinations: {deny: [{host: a.localhost, users: [ben]}]}",
            arguments: ["--listen", "https://127.0.0.1:0"])
        let client = HTTP2Client(try TLSStream(port: pintle.ports[1], protocols: ["h2"]))
        try client.greet()
        for (stream, user) in [(1, Self.ana), (3, Self.ben), (5, Self.ana)] as [(Int, String)] {
            let fields: [HTTP2Bytes.Field] = [
                (":method", "GET"), (":scheme", "http"), (":authority", "a.localhost:\(origin.port)"), (":path", "/"),
                ("proxy-authorization", "Basic \(Data(user.utf8).base64EncodedString())"),
            ]
            try client.send(HTTP2Bytes.headers(fields, on: stream))
            #expect(try client.answer(on: stream).status == (user == Self.ben ? 403 : 200))
        }
    }

    // MARK: Tunnels

    @Test func `requests in intercepted tunnels have the user of the CONNECT, also when they recur`() throws {
        try AuthorityFolder("\(self.folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let pintle = try self.pintle(
            """
            interception: {hosts: [a.localhost]}
            routes:
              - {name: hers, match: {users: [ana]}, respond: {status: 200, body: hers}}
              - {name: tagged, match: {tags: [t]}, respond: {status: 200, body: tagged}}
              - {name: rest, respond: {status: 200, body: rest}}
            """)
        let tunnels = try [(Self.ana, "hers"), (Self.ben, "rest"), ("ben+t:other", "tagged")].map { user, body in
            let client = try pintle.connect()
            try client.send("CONNECT a.localhost:80 HTTP/1.1\r\nHost: a.localhost:80\r\n\(Self.field(user))\r\n")
            #expect(try client.readHead().status == 200)
            return (client, body)
        }
        // A name that a client gives inside is not its proxy user.
        let request = "GET / HTTP/1.1\r\nHost: a.localhost:80\r\n\(Self.field(Self.ana))\r\n"
        for round in 0..<4 {
            for (client, body) in tunnels {
                try client.send(request)
                #expect(try client.readResponse().text == body, "round \(round)")
            }
        }
    }

    @Test func `a tunnel is denied to users of a route that denies it`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try self.pintle("routes: [{name: closed, match: {users: [ben]}, connect: deny}]")
        for (user, passes) in [(Self.ana, true), (Self.ben, false)] {
            let result = try Curl.run(
                proxy: pintle.port, "--proxytunnel", "--proxy-user", user, "http://a.localhost:\(origin.port)/")
            #expect((result.text == "done") == passes, "\(result)")
        }
    }

    // MARK: Addresses

    @Test(arguments: networks)
    func `an idle connection is not used for a client whose rules deny its address`(rules: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try self.pintle("destinations: {\(rules)}")
        let client = try pintle.connect()
        for (user, status) in [(Self.ana, 200), (Self.ben, 403), (Self.ana, 200), (Self.ben, 403)] {
            try client.send(self.get(origin.port, of: user))
            let answer = try client.readResponse()
            #expect(answer.status == status, "\(user): \(answer)")
        }
        #expect(origin.requests.count == 2)
        #expect(origin.connections.count == 1, "her second request takes the connection of her first")
    }

    @Test(arguments: networks)
    func `a cached answer is not given to a client whose rules deny its address`(rules: String) throws {
        let origin = try RawOrigin(answering: response("done", fields: "Cache-Control: max-age=600\r\n"))
        let pintle = try self.pintle("destinations: {\(rules)}\nroutes: [{name: r, cache: {policy: protocol}}]")
        let client = try pintle.connect()
        for (user, status) in [(Self.ana, 200), (Self.ben, 403), (Self.ana, 200), (Self.ben, 403)] {
            try client.send(self.get(origin.port, of: user))
            #expect(try client.readResponse().status == status, "\(user)")
        }
        #expect(origin.requests.count == 1, "her second request is answered from the cache")
    }

    @Test(arguments: networks)
    func `a request under way is not shared with a client whose rules deny its address`(rules: String) throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the clients") { $0 }
            try connection.send(response("done", fields: "Cache-Control: max-age=60\r\n"))
            _ = try connection.waitForEnd()
        }
        let pintle = try self.pintle(
            "destinations: {\(rules)}\nroutes: [{name: r, cache: {policy: protocol}, coalesce: {}}]")
        let hers = try (0..<2).map { _ in try pintle.connect() }
        for client in hers { try client.send(self.get(origin.port, of: Self.ana)) }
        try pintle.waitForCounter("active", 2)
        let his = try pintle.connect()
        try his.send(self.get(origin.port, of: Self.ben))
        #expect(try his.readResponse().status == 403)
        mayAnswer.change { $0 = true }
        for client in hers { #expect(try client.readResponse().text == "done") }
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: networks)
    func `a tunnel is not opened for a client whose rules deny the address`(rules: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try self.pintle("destinations: {\(rules)}")
        for (user, passes) in [(Self.ana, true), (Self.ben, false), (Self.ana, true)] {
            let result = try Curl.run(
                proxy: pintle.port, "--proxytunnel", "--proxy-user", user, "http://a.localhost:\(origin.port)/")
            #expect((result.text == "done") == passes, "\(result)")
        }
    }

    @Test func `users with the same rights share connections and cached answers`() throws {
        let origin = try RawOrigin(answering: response("done", fields: "Cache-Control: max-age=600\r\n"))
        let pintle = try self.pintle(
            """
            destinations: {default: deny, allow: [{host: 127.0.0.0/8, users: [ana, ben]}, {host: b.localhost, users: [ana]}]}
            routes: [{name: r, match: {paths: ["/kept"]}, cache: {policy: protocol}}]
            """)
        let client = try pintle.connect()
        for path in ["/kept", "/"] {
            for user in [Self.ana, Self.ben] {
                try client.send(self.get(origin.port, path, of: user))
                #expect(try client.readResponse().text == "done")
            }
        }
        #expect(origin.requests.count == 3 && origin.connections.count == 1)
    }

    // MARK: Commands

    @Test func `explain takes a user and a tag, and refuses those that no client has`() throws {
        let file = try self.folder.write(
            "version: 1\nclients: {basic_auth: {users: users}}\n"
                + "destinations: {default: deny, allow: [{host: a.test, users: [ana]}]}\n", to: "p.yaml")
        func explain(_ arguments: String...) throws -> ChildProcess {
            try PintleProcess.run(["explain", "-c", file] + arguments + ["GET", "http://a.test/"])
        }
        #expect(try explain("--user", "ana", "--tag", "x").exitCode == 0)
        let denied = try explain("--user", "ben")
        #expect(denied.exitCode == 1)
        #expect(
            denied.output.contains(
                "destination  a.test:80 is denied by destinations.default, and destinations.allow[0] \"a.test\" is for other "
                    + "clients"), "\(denied.lines)")
        let unknown = try explain("--user", "anna")
        #expect(unknown.exitCode == 2)
        #expect(
            unknown.errors.contains("pintle explain: clients.basic_auth has no user \"anna\"; did you mean ana?"),
            "\(unknown.lines)")
        #expect(try explain("--tag", "x").exitCode == 2)
        let document = try explain("--format", "json", "--user", "ana")
        #expect(document.output.contains("    \"user\": \"ana\""), "\(document.lines)")
    }
}
