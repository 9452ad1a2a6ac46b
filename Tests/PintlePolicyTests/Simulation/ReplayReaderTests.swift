// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTape
import Testing

/// `recordings`, and `replay` of routes.
struct ReplayReaderTests {
    private static func yaml(_ replay: String, _ more: String = "") -> String {
        "version: 1\n\(more)\nroutes: [{name: r, replay: \(replay)}]"
    }

    private static func load(_ replay: String, _ more: String = "") throws -> Configuration {
        try PintlePolicyTests.load(Self.yaml(replay, more))
    }

    @Test func `every key is read`() throws {
        let configuration = try Self.load(
            """
            {mode: replay, tape: a/users, match: {by: [method, body], ignore_json: ["/a/~1b"], headers: [Accept]}, order: first, \
            miss: record, refresh: on, timing: recorded}
            """,
            "recordings: {path: /tapes, bodies: 2KiB, redact: [X-Team, \"query:t\", \"json:/p\", \"form:c\"], max_age: 30d}"
        )
        var rules = ReplayRules(tape: "/tapes/a/users")
        rules.match.parts = [.method, .body]
        rules.match.ignoredJSON = [["a", "/b"]]
        rules.match.fields = ["accept"]
        (rules.order, rules.miss, rules.refreshes, rules.timing) = (.first, .record, true, .recorded)
        rules.recordings.path = "/tapes"
        rules.recordings.bodies = 2048
        rules.recordings.redact = [.field("x-team"), .query("t"), .json(["p"]), .form("c")]
        rules.recordings.maxAge = .seconds(30 * 86_400)
        #expect(configuration.routes[0].simulation.replay == rules)
        #expect(configuration.recordings == rules.recordings)
    }

    @Test func `the defaults play, and fail without a recording`() throws {
        let replay = try #require(try Self.load("{tape: t}").routes[0].simulation.replay)
        #expect(replay.mode == .replay && replay.miss == .fail && replay.order == .sequence && !replay.refreshes)
        #expect(replay.timing == .atOnce && replay.match == MatchRules())
        #expect(replay.recordings.bodies == 1 << 20 && replay.recordings.maxAge == nil)
        #expect(try Self.load("off").routes[0].simulation.replay == nil)
        #expect(try Self.load("{mode: off, tape: t}").routes[0].simulation.replay == nil)
    }

    @Test(arguments: [
        ("{mode: replay}", "the key \"tape\" is missing: a folder, or a .har, under recordings.path"),
        ("{tape: /x}", "must be the name of a folder, or of a .har, under recordings.path"),
        ("{tape: ../x}", "must be the name of a folder, or of a .har, under recordings.path"),
        ("{tape: x.har, mode: record}", "is an archive, which is only played; name a folder to record into"),
        ("{tape: x.har, miss: record}", "is an archive, which is only played; name a folder to record into"),
        ("{tape: x, mode: record, miss: fail}", "has no effect with mode: record; it belongs to mode: replay"),
        ("{tape: x, match: {by: [method], ignore_query: [a]}}", "has no effect: match.by does not name url"),
        ("{tape: x, match: {ignore_json: [a]}}", "a JSON pointer begins with /, for example /user/password"),
        ("{tape: x, match: {by: []}}", "an empty list means nothing here"),
        ("{tape: x, miss: skip}", "fail, forward or record"),
    ])
    func `what contradicts itself is refused in a sentence`(replay: String, expected: String) {
        let found = problems(Self.yaml(replay))
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test func `recordings beside a cache, or off loopback, are refused`() throws {
        let cached = problems("version: 1\nroutes: [{name: r, cache: {policy: protocol}, replay: {tape: t}}]")
        #expect(cached.contains { $0.contains("has no effect beside replay") }, "\(cached)")
        let open = "listen: [\"0.0.0.0:1\"]"
        let exposed = problems(Self.yaml("{tape: t}", open))
        #expect(exposed.contains { $0.contains("the route has replay, and other machines reach") }, "\(exposed)")
        // A recorder invents nothing.
        #expect(problems(Self.yaml("{tape: t, mode: record}", open)).isEmpty)
    }
}
