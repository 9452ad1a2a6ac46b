// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleTesting
import PintleTrust
import Testing

@testable import PintleSession

/// A jar's file, exchanged with the real curl, wget and Python.
@Suite(.timeLimit(.minutes(15))) struct CookieFileTests {
    private let folder: TemporaryFolder
    private var path: String { "\(self.folder.path)/cookies.txt" }

    init() throws { self.folder = try TemporaryFolder() }

    private func text() throws -> String { String(decoding: try #require(fileBytes(self.path)), as: UTF8.self) }

    private func jar(keeping: Bool = true) throws -> CookieJar {
        try CookieJar(file: self.path, keepingSessionCookies: keeping)
    }

    private func problem(_ work: () throws -> Void) -> CookieFileError? {
        do {
            try work()
            return nil
        } catch {
            return error as? CookieFileError
        }
    }

    // MARK: Other programs

    @Test func `curl sends the cookies of a jar, each to where it belongs`() async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let echo = "location / { return 200 \"$http_cookie\"; }"
        let nginx = try NginxOrigin(https: [pki.leaf(dns: ["a.example"], signedBy: root)], locations: echo)
        let jar = try self.jar()
        let later = UnixTime.now.seconds + 1000
        try jar.set(Cookie(name: "host", value: "1", domain: "a.example", isHTTPOnly: true))
        try jar.set(Cookie(name: "wide", value: "\"2 x\"", domain: "a.example", expires: later, isHostOnly: false))
        try jar.set(Cookie(name: "safe", value: "3", domain: "a.example", isSecure: true, isHTTPOnly: true))
        try jar.set(Cookie(name: "deep", value: "", domain: "a.example", path: "/deep"))
        try await jar.save()
        func ask(_ url: String) throws -> [Substring] {
            let answer = try Curl.run(
                "--insecure", "-b", self.path, "--connect-to",
                "::127.0.0.1:\(url.hasPrefix("https") ? nginx.httpsPort : nginx.httpPort)", url)
            return answer.text.split(separator: "; ").sorted()
        }
        #expect(try ask("http://a.example/") == ["host=1", "wide=\"2 x\""])
        #expect(try ask("http://www.a.example/deep/er") == ["wide=\"2 x\""])
        #expect(try ask("https://a.example/deep/er") == ["deep=", "host=1", "safe=3", "wide=\"2 x\""])
        #expect(try ask("http://b.example/") == [])
    }

    @Test func `a jar takes up what curl has written, and curl what both have`() async throws {
        let site = try origin { request in
            guard request.target == "/set" else { return answer(200, [], request["Cookie"] ?? "none") }
            return answer(
                200,
                [
                    "host=1; HttpOnly", "wide=2; Domain=a.example; Max-Age=1000", "deep=3; Path=/deep", "empty=",
                    "odd=\"a b\"=c", "gone=1; Max-Age=0",
                ].map { "Set-Cookie: \($0)" })
        }
        let aim = "::127.0.0.1:\(site.port)"
        _ = try Curl.run("-c", self.path, "--connect-to", aim, "http://a.example/set")
        let jar = try self.jar()
        let found = jar.cookies.sorted { $0.name < $1.name }
        #expect(found.map(\.name) == ["deep", "empty", "host", "odd", "wide"])
        #expect(found.map(\.value) == ["3", "", "1", "\"a b\"=c", "2"])
        #expect(found.map(\.isHostOnly) == [true, true, true, true, false])
        #expect(found.map(\.isHTTPOnly) == [false, false, true, false, false])
        #expect(found.map { $0.expires != nil } == [false, false, false, false, true])
        var configuration = SessionConfiguration()
        configuration.cookies = .jar(jar)
        let proxy = try ScriptedProxy(leadingTo: site.port)
        configuration.proxy = proxy.server
        let stage = try SessionStage(configuration: configuration)
        let sent = try await stage.data(for: SessionRequest("GET", "http://www.a.example/"))
        #expect(sent.text == "wide=2")
        jar.set("more=4", from: try HTTPURL("http://a.example/"))
        try await jar.save()
        let echoed = try Curl.run("-b", self.path, "--connect-to", aim, "http://a.example/")
        #expect(
            echoed.text.split(separator: "; ").sorted() == ["empty=", "host=1", "more=4", "odd=\"a b\"=c", "wide=2"])
    }

    @Test func `wget and Python read the file and write one that is read`() async throws {
        let site = try origin {
            answer(200, ["Set-Cookie: from=wget; Max-Age=1000"], $0["Cookie"] ?? "none")
        }
        let url = "http://localhost:\(site.port)/"
        let jar = try self.jar()
        let later = UnixTime.now.seconds + 1000
        try jar.set(Cookie(name: "mine", value: "1", domain: "localhost", expires: later))
        try await jar.save()
        let wget = try ChildProcess(
            "/usr/bin/wget",
            ["-q", "-O", "-", "--load-cookies", self.path, "--save-cookies", self.path, "--keep-session-cookies", url])
        #expect(try wget.waitForExit() == 0)
        #expect(wget.output == ["mine=1"])
        let changed = try self.jar()
        #expect(changed.cookies.map(\.name).sorted() == ["from", "mine"])
        #expect(changed.cookies(for: try HTTPURL(url)).count == 2)
        try await changed.save()
        let script = """
            import sys, http.cookiejar
            jar = http.cookiejar.MozillaCookieJar(sys.argv[1])
            jar.load(ignore_discard=True)
            sys.stdout.write(str(sorted(c.name for c in jar)))
            next(c for c in jar if c.name == "mine").value = "2"
            jar.save(ignore_discard=True)
            """
        let python = try ChildProcess("/usr/bin/python3", ["-c", script, self.path])
        #expect(try python.waitForExit() == 0)
        #expect(python.output == ["['from', 'mine']"])
        #expect(try self.jar().cookies.first { $0.name == "mine" }?.value == "2")
    }

    // MARK: Writing

    @Test func `the file is for its user only, and keeps session cookies where that is asked`() async throws {
        let (brief, kept) = (
            try self.jar(keeping: false), try Cookie(name: "n", value: "v", domain: "a.example", expires: 4_000_000_000)
        )
        try brief.set(kept)
        try brief.set(Cookie(name: "session", value: "v", domain: "a.example"))
        chmod(try self.folder.write("", to: "cookies.txt"), 0o644)
        try await brief.save()
        var status = stat()
        #expect(stat(self.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try self.jar().cookies == [kept] && brief.cookies.count == 2)
        let long = try self.jar(keeping: true)
        try long.set(Cookie(name: "session", value: "v", domain: "a.example"))
        try await long.save()
        #expect(try self.jar(keeping: false).cookies.map(\.name) == ["n", "session"])
        // Nothing else is left of the writing.
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path) == ["cookies.txt"])
    }

    @Test func `a file that cannot be written is told, stays as it was, and is written later`() async throws {
        let path = "\(self.folder.path)/below/cookies.txt"
        let jar = try CookieJar(file: path, keepingSessionCookies: true)
        try jar.set(Cookie(name: "n", value: "v", domain: "a.example"))
        do {
            try await jar.save()
            Issue.record("it was saved nowhere")
        } catch {
            #expect(error.code == .unwritable && error.path == path && error.line == nil)
            #expect("\(error)" == "\(path): it cannot be written: no such file or folder")
        }
        try FileManager.default.createDirectory(atPath: "\(self.folder.path)/below", withIntermediateDirectories: false)
        try await jar.save()
        #expect(try CookieJar(file: path).cookies.count == 1)
    }

    @Test func `changes are saved by themselves, those that come together at once`() async throws {
        let file = CookieFile(self.path, keepsSessionCookies: true, savesChanges: true, delay: .milliseconds(300))
        let jar = try CookieJar(file, skippingMalformedLines: false)
        var events = jar.eventStream().makeAsyncIterator()
        for number in 0..<100 { try jar.set(Cookie(name: "n\(number)", value: "v", domain: "a.example")) }
        var saves = 0
        while try self.jar().cookies.count < 100 {
            guard case .saved = await events.next() else { continue }
            saves += 1
        }
        #expect(saves < 10)
        jar.deleteAll()
        // Saves at once, without the delay, the cookies that exist now.
        try await jar.save()
        #expect(try self.jar().cookies.isEmpty)
    }

    @Test func `a save that fails by itself is told, too`() async throws {
        let file = CookieFile(
            "\(self.folder.path)/none/cookies.txt", keepsSessionCookies: true, savesChanges: true, delay: .zero)
        let jar = try CookieJar(file, skippingMalformedLines: false)
        var events = jar.eventStream().makeAsyncIterator()
        try jar.set(Cookie(name: "n", value: "v", domain: "a.example"))
        while let event = await events.next() {
            guard case .saveFailed(let error) = event else { continue }
            #expect(error.code == .unwritable)
            break
        }
    }

    @Test func `many save at the same time, and readers never see a part`() async throws {
        let jar = try self.jar()
        try jar.set(Cookie(name: "first", value: "v", domain: "a.example"))
        try await jar.save()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try jar.set(Cookie(name: "n\(number)", value: "v", domain: "a.example"))
                    try await jar.save()
                    let there = try CookieJar(file: self.path).cookies.map(\.name)
                    #expect(there.contains("n\(number)") && there.contains("first"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try self.jar().cookies.count == 51)
    }

    // MARK: Reading

    @Test func `a file that is not there is an empty jar`() throws {
        #expect(try self.jar().cookies.isEmpty && fileBytes(self.path) == nil)
    }

    @Test func `a line that is no cookie is named, or passed over`() throws {
        try self.folder.write(
            "# Netscape\n\na.example\tFALSE\t/\tFALSE\t0\tn\tsecret\nrubbish secret\n", to: "cookies.txt")
        let error = try #require(self.problem { _ = try CookieJar(file: self.path) })
        #expect(error.code == .malformed && error.line == 4 && error.path == self.path)
        #expect("\(error)" == "\(self.path):4: seven fields stand between tabs, and it has 1")
        #expect(try CookieJar(file: self.path, skippingMalformedLines: true).cookies.map(\.name) == ["n"])
    }

    @Test func `what is no file, or too long a one, is refused`() throws {
        let folder = try #require(self.problem { _ = try CookieJar(file: self.folder.path) })
        #expect(folder.code == .unreadable && folder.message == "it is not a regular file")
        try self.folder.write("#\n", to: "cookies.txt")
        #expect(truncate(self.path, 17 << 20) == 0)
        #expect(self.problem { _ = try CookieJar(file: self.path) }?.code == .tooLarge)
    }

    @Test func `a file of more cookies than a jar keeps leaves the last ones`() throws {
        let lines = (0..<5000).map { "h\($0).example\tFALSE\t/\tFALSE\t0\tn\tv\n" }.joined()
        try self.folder.write(lines, to: "cookies.txt")
        let cookies = try self.jar().cookies
        #expect(cookies.count == 3000 && cookies.first?.domain == "h2000.example")
    }
}
