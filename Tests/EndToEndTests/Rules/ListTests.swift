// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import PintleTrust
import Testing

/// A server of a list over TLS with a private certificate, which answers as a test says.
private final class ListServer: Sendable {
    /// The answer to a request.
    enum Answer: Sendable {
        /// The text with an ETag; 304 to a request that knows it.
        case text(String)
        case status(Int)
        /// Says that the body is longer than it is.
        case cut(String)
        case redirect(String)
        case silence
    }

    let pki = TestPKI()
    let leaf: TestIdentity
    let root: TestIdentity
    let folder: TemporaryFolder
    let origin: RawOrigin
    private let terminator: TLSTerminator
    private let answer: Watched<Answer>

    var url: String { "https://localhost:\(self.terminator.port)/list.txt" }
    /// The validators of the requests so far.
    var validators: [String?] { self.origin.requests.map { $0["If-None-Match"] } }

    init(_ answer: Answer) throws {
        self.root = try self.pki.root("List Root")
        self.leaf = try self.pki.leaf("list", dns: ["localhost"], signedBy: self.root)
        let watched = Watched(answer)
        self.answer = watched
        self.origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            switch watched.current {
            case .text(let text):
                let tag = "\"\(text.utf8.reduce(UInt64(5381)) { $0 &* 33 &+ UInt64($1) })\""
                let isKnown = request["If-None-Match"] == tag
                try connection.send(
                    isKnown
                        ? "HTTP/1.1 304 Not Modified\r\nETag: \(tag)\r\nConnection: close\r\n\r\n"
                        : PintleTesting.answer(200, ["ETag: \(tag)", "Connection: close"], text))
            case .status(let status): try connection.send(PintleTesting.answer(status, ["Connection: close"], "sorry"))
            case .cut(let text):
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count + 10)\r\nConnection: close\r\n\r\n\(text)")
            case .redirect(let place):
                try connection.send(PintleTesting.answer(302, ["Location: \(place)", "Connection: close"]))
            case .silence: _ = try connection.waitForEnd()
            }
        }
        self.terminator = try TLSTerminator(self.leaf, leadingTo: self.origin.port)
        self.folder = try TemporaryFolder()
        try self.folder.write(self.root.certificatePEM, to: "root.pem")
    }

    func set(_ answer: Answer) { self.answer.change { $0 = answer } }

    /// The sections `trust`, `lists` and `destinations` of a configuration with the list as denials.
    ///
    /// - Parameter rules: further keys of `destinations`, with a comma behind each.
    func configuration(
        pin: Pin? = nil, every: String = "1h", timeout: String = "10s", rules: String = ""
    ) -> String {
        """
        trust: {lists: {roots: [root.pem], pinning: public_key, pins: ["\(pin ?? self.leaf.pin)"]}}
        lists: {far: {url: "\(self.url)", trust: lists, every: \(every), timeout: \(timeout)}}
        destinations: {\(rules)deny: [{list: far}]}
        """
    }

    /// The environment of commands whose copies are in the folder.
    private var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "XDG_STATE_HOME": self.folder.path, "HOME": self.folder.path]
    }

    func check(_ configuration: String) throws -> ChildProcess {
        try self.folder.write("version: 1\n\(configuration)\n", to: "check.yaml")
        return try PintleProcess.run(
            ["check", "\(self.folder.path)/check.yaml"], environment: self.environment)
    }

    func explain(_ host: String) throws -> ChildProcess {
        try PintleProcess.run(
            ["explain", "-c", "\(self.folder.path)/check.yaml", "GET", "http://\(host)/"],
            environment: self.environment)
    }
}

/// Lists of hosts from files and servers.
struct ListTests {
    /// So that no name is looked up.
    private static let denyingAll = "default: deny, "

    /// The rule that denies a host, in a sentence.
    private func denial(_ pintle: PintleProcess, _ host: String) throws -> String? {
        let result = try Curl.run(proxy: pintle.port, "-H", "Accept: application/json", "http://\(host)/")
        return result.problem == "destination-denied" ? result.json["detail"] as? String : nil
    }

    // MARK: Loading

    @Test func `a list is fetched over a pinned connection, kept, and used without the network while it is young`()
        throws
    {
        let server = try ListServer(.text("ads.example\n*.ads.example\n"))
        let first = try server.check(server.configuration())
        #expect(first.exitCode == 0, "\(first.errors)")
        #expect(first.output.contains { $0.contains("note: lists.far: 2 entries, from \(server.url), as of ") })
        #expect(server.validators == [nil])
        server.origin.stop()
        #expect(try server.check(server.configuration()).exitCode == 0)
        let explained = try server.explain("x.ads.example")
        #expect(explained.exitCode == 1)
        #expect(
            explained.output.contains { $0.contains("destinations.deny[0] list \"far\" line 2 \"*.ads.example\"") },
            "\(explained.output)")
        #expect(server.origin.requests.count == 1)
    }

    @Test func `an old copy is asked for again, and confirmed or replaced`() throws {
        let server = try ListServer(.text("ads.example\n"))
        let configuration = server.configuration(every: "1s")
        #expect(try server.check(configuration).exitCode == 0)
        func asked(_ count: Int) throws {
            // The copy is a second old at some time.
            try Patience.wait(for: "request \(count)") {
                let checked = try server.check(configuration)
                #expect(checked.exitCode == 0, "\(checked.errors)")
                return server.origin.requests.count >= count
            }
        }
        try asked(2)
        #expect(server.validators[1] != nil)
        #expect(try server.explain("ads.example").exitCode == 1)
        server.set(.text("other.example\n"))
        try asked(server.origin.requests.count + 1)
        #expect(try server.explain("ads.example").exitCode == 0)
        #expect(try server.explain("other.example").exitCode == 1)
    }

    /// Answers that are no list.
    private static let unusable: [(name: String, answer: ListServer.Answer, reason: String)] = [
        ("missing", .status(404), "it answers with status 404"),
        ("no list", .text("<html>\n"), "its text is no list: line 1: "),
        ("empty", .text("# nothing\n"), "its text has no entry"),
        ("cut", .cut("ads.example\n"), "localhost"),
        ("redirect", .redirect("https://localhost/other"), "it answers with status 302"),
        ("silent", .silence, "localhost"),
    ]

    @Test(arguments: Self.unusable.indices)
    func `without a copy an answer that is no list refuses the configuration, and with one it is a warning`(
        index: Int
    ) throws {
        let (_, answer, reason) = Self.unusable[index]
        let server = try ListServer(answer)
        let configuration = server.configuration(every: "1s", timeout: "500ms")
        let refused = try server.check(configuration)
        #expect(refused.exitCode == 3)
        let line = refused.errors.joined(separator: "\n")
        #expect(line.contains("check.yaml:3:9: lists.far: \(server.url): "), "\(line)")
        #expect(line.contains(reason) && line.contains("and there is no earlier copy of the list"), "\(line)")
        // A good text, so that there is a copy.
        server.set(.text("ads.example\n"))
        #expect(try server.check(server.configuration()).exitCode == 0)
        server.set(answer)
        try Patience.wait(for: "the copy to be old") {
            let used = try server.check(configuration)
            #expect(used.exitCode == 0, "\(used.errors)")
            let warning = used.errors.first { $0.hasPrefix("warning: the list \"far\" is as of ") }
            return warning?.contains("because \(server.url) failed: ") == true && warning?.contains(reason) == true
        }
        #expect(try server.explain("ads.example").exitCode == 1)
    }

    @Test func `a status 304 is no answer to a request without a condition`() throws {
        let server = try ListServer(.status(304))
        let refused = try server.check(server.configuration())
        #expect(refused.exitCode == 3)
        #expect(refused.errors.contains { $0.contains("it answers with status 304") }, "\(refused.errors)")
    }

    @Test func `a wrong pin refuses, and nothing is asked`() throws {
        let server = try ListServer(.text("ads.example\n"))
        let other = try server.pki.leaf("other", dns: ["localhost"], signedBy: server.root)
        let refused = try server.check(server.configuration(pin: other.pin))
        #expect(refused.exitCode == 3)
        #expect(
            refused.errors.contains { $0.contains("lists.far: \(server.url): ") && $0.contains("pin") },
            "\(refused.errors)")
        #expect(server.origin.requests.isEmpty)
        let unknown = try server.check(
            "lists: {far: {url: \"\(server.url)\"}}\ndestinations: {deny: [{list: far}]}")
        #expect(unknown.exitCode == 3, "the system does not know the authority")
        #expect(server.origin.requests.isEmpty)
        let byHost = try server.check(
            """
            trust: {here: {hosts: [localhost], roots: [root.pem]}}
            lists: {far: {url: "\(server.url)"}}
            destinations: {deny: [{list: far}]}
            """)
        #expect(byHost.exitCode == 0, "\(byHost.errors)")
    }

    @Test func `a server that is silent is waited for, and that is said`() throws {
        let server = try ListServer(.silence)
        let refused = try server.check(server.configuration(timeout: "2s"))
        #expect(refused.exitCode == 3)
        #expect(
            refused.errors.contains("fetching the list \"far\" from \(server.url), for at most 2s"), "\(refused.errors)"
        )
    }

    @Test func `a damaged copy counts as none`() throws {
        let server = try ListServer(.text("ads.example\n"))
        #expect(try server.check(server.configuration()).exitCode == 0)
        let lists = "\(server.folder.path)/pintle/lists"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: lists).first)
        let handle = try #require(FileHandle(forWritingAtPath: "\(lists)/\(name)"))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("good.example\n".utf8))
        try handle.close()
        #expect(try server.check(server.configuration()).exitCode == 0)
        #expect(server.validators == [nil, nil], "it is fetched as a whole")
    }

    // MARK: Serving

    @Test func `a running proxy puts a changed list in force, and keeps the last good one`() throws {
        let server = try ListServer(.text("ads.example\n"))
        let pintle = try PintleProcess(
            "admin: \"127.0.0.1:0\"\n" + server.configuration(every: "1s", rules: Self.denyingAll),
            folder: server.folder)
        #expect(
            try self.denial(pintle, "ads.example")?
                .contains("destinations.deny[0] list \"far\" line 1 \"ads.example\"") == true)
        #expect(try self.denial(pintle, "other.test")?.contains("destinations.default") == true)
        server.set(.text("ads.example\nother.test\n"))
        _ = try pintle.waitForMessages("reloaded \(server.folder.path)/pintle.yaml")
        #expect(try self.denial(pintle, "other.test")?.contains("line 2 \"other.test\"") == true)
        #expect(Set(pintle.exchanges.compactMap { $0["revision"] as? String }).count == 2)

        server.set(.status(500))
        let failed = try pintle.waitForMessages("list.unusable")[0]
        #expect(failed["level"] as? String == "warning" && failed["list"] as? String == "far", "\(failed)")
        #expect(failed["reason"] as? String == "it answers with status 500" && failed["url"] as? String == server.url)
        // A failure is told once, and another one again.
        let count = server.origin.requests.count
        try server.origin.waitForRequests(count + 2)
        server.set(.text("no list at all"))
        #expect(try pintle.waitForMessages("list.unusable", 2).count == 2)
        #expect(try self.denial(pintle, "other.test")?.contains("line 2") == true)

        server.set(.text("only.test\n"))
        _ = try pintle.waitForMessages("reloaded \(server.folder.path)/pintle.yaml", 2)
        #expect(try self.denial(pintle, "only.test")?.contains("line 1 \"only.test\"") == true)
        #expect(try self.denial(pintle, "other.test")?.contains("destinations.default") == true)
        #expect(try pintle.stop() == 0)
    }

    @Test func `a list that does not change is confirmed, and nothing is reloaded`() throws {
        let server = try ListServer(.text("ads.example\n"))
        let pintle = try PintleProcess(server.configuration(every: "1s", rules: Self.denyingAll), folder: server.folder)
        try server.origin.waitForRequests(4)
        #expect(server.validators.dropFirst().allSatisfy { $0 != nil })
        #expect(try pintle.stop() == 0)
        #expect(!pintle.process.errors.contains { $0.contains("reloaded") })
    }

    @Test func `a proxy starts with an old copy while the server is away, and says so in the form of its log`() throws {
        let server = try ListServer(.text("ads.example\n"))
        #expect(try server.check(server.configuration(every: "1s")).exitCode == 0)
        server.set(.status(503))
        try Patience.wait(for: "the copy to be old") {
            try server.check(server.configuration(every: "1s")).errors.contains { $0.hasPrefix("warning: the list") }
        }
        let pintle = try PintleProcess(server.configuration(every: "1s", rules: Self.denyingAll), folder: server.folder)
        #expect(try self.denial(pintle, "ads.example")?.contains("list \"far\" line 1") == true)
        #expect(try pintle.stop() == 0)
        let warning = pintle.process.errors.first { $0.contains("is as of") }
        #expect(
            warning?.hasPrefix("{") == true && warning?.contains("\"level\":\"warning\"") == true,
            "\(pintle.process.errors)")
    }

    @Test func `a list in a file is followed by --watch`() throws {
        let folder = try TemporaryFolder()
        try folder.write("ads.example\n", to: "lists/ads.txt")
        let pintle = try PintleProcess(
            "lists: {ads: {file: lists/ads.txt}}\ndestinations: {deny: [{list: ads, reason: \"ask the team\"}]}",
            arguments: ["--watch"], folder: folder)
        #expect(try self.denial(pintle, "ads.example")?.hasSuffix("line 1 \"ads.example\": ask the team") == true)
        try folder.write("# more\nads.example\n.other.test\n", to: "lists/ads.txt")
        _ = try pintle.waitForMessages("reloaded \(folder.path)/pintle.yaml")
        #expect(try self.denial(pintle, "x.other.test")?.contains("line 3 \".other.test\"") == true)
        try folder.write("not a list\n", to: "lists/ads.txt")
        _ = try pintle.waitForMessages("the configuration was not reloaded; the running one stays")
        #expect(
            pintle.process.errors.contains {
                $0.contains("lists.ads.file: the list \(folder.path)/lists/ads.txt, line 1: ")
            })
        #expect(try self.denial(pintle, "x.other.test")?.contains("line 3") == true)
    }

    // MARK: Other commands

    @Test func `check --against tells lists with other entries apart`() throws {
        let folder = try TemporaryFolder()
        for (name, text) in [
            ("old", "a.example\nb.example\n"), ("new", "b.example\nc.example\n"), ("same", "a.example\nB.example\n"),
        ] {
            try folder.write(text, to: "\(name).txt")
            try folder.write(
                "version: 1\nlists: {l: {file: \(name).txt}}\ndestinations: {deny: [{list: l}]}\n", to: "\(name).yaml")
        }
        func against(_ name: String) throws -> ChildProcess {
            try PintleProcess.run(["check", "\(folder.path)/\(name).yaml", "--against", "\(folder.path)/old.yaml"])
        }
        #expect(try against("same").output == ["same in meaning"])
        let found = try against("new")
        #expect(found.exitCode == 1)
        let text = found.output.joined(separator: "\n")
        #expect(
            text.contains("a.example") && text.contains("destinations.deny[0] list \"l\" line 1 \"a.example\""),
            "\(text)")
        #expect(text.contains("destinations.deny[0] list \"l\" line 2 \"c.example\""), "\(text)")
    }
}
