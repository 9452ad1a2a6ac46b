// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSerialization
import PintleSession
import Testing

/// `request.cookies`: accepted values, and the treatment of a client's cookies.
struct CookieRuleTests {
    @Test(arguments: [("pass", ["a=b", "c=d"]), ("jar", []), ("block", [])])
    func `a client's cookies go where the route lets them`(cookies: String, sent: [String]) throws {
        let policy = try policy("routes: [{name: r, request: {cookies: \(cookies), headers: {set: {X-A: b}}}}]")
        let head = try RequestHead(spelled: ["GET http://a.test/", "Cookie: a=b", "cookie: c=d"], minorVersion: 1)
        let made = try RequestPlan(head, .none, by: policy).request(
            from: head, .streamed, of: .local, within: .unlimited)
        #expect(made.transfer.fields.values(of: "Cookie") == sent)
        #expect(made.transfer.fields["X-A"] == "b")
    }

    @Test(arguments: [
        (
            "{cookies: keep}",
            "2:39: routes[0].request.cookies: \"keep\": must be pass, jar or block"
        ),
        ("{cookie: jar}", "2:30: routes[0].request: unknown key \"cookie\"; did you mean \"cookies\"?"),
        (
            "{cookies: block, headers: {add: {cookie: a=b}}}, allow_cleartext_credentials: true",
            "2:62: routes[0].request.headers: a route with request.cookies: block has no cookies of its own; leave one of "
                + "them out"
        ),
        (
            "{cookies: jar}, response: {headers: {set: {Set-Cookie: a=b}}}",
            "2:72: routes[0].response.headers: a route with request.cookies: jar has no cookies of its own; leave one of "
                + "them out"
        ),
    ])
    func `a wrong value is refused`(request: String, problem: String) {
        #expect(problems("version: 1\nroutes: [{name: r, request: \(request)}]") == ["pintle.yaml:" + problem])
    }

    @Test(arguments: [
        ("pass", ""),
        (
            "jar",
            "; keeps cookies in a jar that its clients share, and passes none; denies tunnels, which could not keep its "
                + "rules"
        ),
        ("block", "; passes no cookies; denies tunnels, which could not keep its rules"),
    ])
    func `check says it`(cookies: String, words: String) throws {
        let note = Lint(try policy("routes: [{name: r, request: {cookies: \(cookies)}}]")).findings.first?.message
        #expect(note == "\"r\": every method every host → where it was aimed\(words)")
    }
}
