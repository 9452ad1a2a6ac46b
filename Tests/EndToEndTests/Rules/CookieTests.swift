// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Cookies that the proxy keeps from its clients.
struct CookieTests {
    private func origin() throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let fields = request.head.startLine.contains("/login") ? "Set-Cookie: id=1; Path=/\r\n" : ""
                try connection.send(response(request["Cookie"] ?? "none", fields: fields))
            }
        }
    }

    @Test func `a jar belongs to the route, for all of its clients`() throws {
        let origin = try self.origin()
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(
            "routes: [{name: r, match: {paths: [\"/x/**\"]}, request: {cookies: jar}}, {name: other}]",
            folder: folder)
        let login = try pintle.ask(get(origin.port, "/x/login", fields: "Cookie: own=1\r\n"))
        #expect(login.text == "none" && login["Set-Cookie"] == nil, "\(login)")
        for _ in 0..<2 { #expect(try pintle.ask(get(origin.port, "/x/a", fields: "Cookie: own=1\r\n")).text == "id=1") }
        #expect(try pintle.ask(get(origin.port, "/y", fields: "Cookie: own=1\r\n")).text == "own=1")
        // A reload keeps the cookie.
        pintle.process.signal(SIGHUP)
        try pintle.waitForMessages("reloaded \(folder.path)/pintle.yaml")
        #expect(try pintle.ask(get(origin.port, "/x/a")).text == "id=1")
    }

    @Test func `block lets none pass`() throws {
        let origin = try self.origin()
        let pintle = try PintleProcess("routes: [{name: r, request: {cookies: block}}]")
        for _ in 0..<2 {
            let answer = try pintle.ask(get(origin.port, "/login", fields: "Cookie: own=1\r\nX-A: b\r\n"))
            #expect(answer.text == "none" && answer["Set-Cookie"] == nil, "\(answer)")
        }
        #expect(origin.requests.last?["X-A"] == "b")
    }
}
