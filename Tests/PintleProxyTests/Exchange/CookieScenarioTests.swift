// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// Exchanges whose route keeps cookies from its clients.
struct CookieScenarioTests {
    private static let request = ["GET http://a.test/in", "Cookie: own=1"]
    private static let set: Fields = ["Set-Cookie": "id=1; Path=/", "A": "b"]

    static let rows: [Scenario] = [
        Scenario(
            name: "pass is the default", policy: "routes: [{name: r}]", request: request,
            events: [.begin, .head(200, set, 0), .originEnds],
            expected: [
                "origin < GET http://a.test/in {Cookie: own=1}",
                "client < 200, 0 bytes {Set-Cookie: id=1; Path=/, A: b}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "block keeps them apart, in interim responses too",
            policy: "routes: [{name: r, request: {cookies: block}}]", request: request,
            events: [.begin, .interim(103, set), .head(200, set, 0), .originEnds],
            expected: [
                "origin < GET http://a.test/in",
                "client < interim 103 {A: b}",
                "client < 200, 0 bytes {A: b}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "a jar has them for the next request, and where they belong",
            policy: "routes: [{name: r, redirects: follow, request: {cookies: jar}}]", request: request,
            events: [
                .begin, .head(302, ["Set-Cookie": "id=1; Path=/", "Location": "/home"], 0), .originEnds,
                .head(302, ["Set-Cookie": "z=2; Path=/home", "Location": "http://b.test/"], 0), .originEnds,
                .head(302, ["Location": "http://a.test/home/x"], 0), .originEnds, .head(200, set, 0), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/in",
                "origin < GET http://a.test/home {Cookie: id=1}",
                "origin < GET http://b.test/",
                "origin < GET http://a.test/home/x {Cookie: z=2; id=1}",
                "client < 200, 0 bytes {A: b}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
    ]

    @Test(arguments: Self.rows) func `cookies go where the route lets them`(scenario: Scenario) async throws {
        try await scenario.perform()
    }
}
