// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSerialization
import PintleSession
import Testing

/// `request.retries`: accepted values, and the settings that transfers get.
struct RetryRuleTests {
    private func retries(_ yaml: String) throws -> TransferRetries {
        let head = try RequestHead(spelled: ["GET http://a.test/"], minorVersion: 1)
        let plan = RequestPlan(head, .none, by: try policy(yaml))
        return try plan.request(from: head, .streamed, of: .local, within: .unlimited).transfer.retries
    }

    @Test(arguments: [
        ("", 1, true, false), ("routes: [{name: r}]", 1, true, false),
        ("routes: [{name: r, request: {retries: }}]", 1, true, false),
        ("routes: [{name: r, request: {retries: {attempts: 3}}}]", 3, true, true),
        ("routes: [{name: r, request: {retries: {on: connect_failure}}}]", 1, false, true),
        ("routes: [{name: r, request: {retries: {on: [stale_connection, connect_failure]}}}]", 1, true, true),
        ("routes: [{name: r, request: {retries: {attempts: 2, on: [stale_connection]}}}]", 2, true, false),
    ])
    func `a transfer is told what to try again`(yaml: String, limit: Int, onStale: Bool, onConnect: Bool) throws {
        let retries = try self.retries(yaml)
        #expect(retries.limit == limit)
        #expect(retries.onStaleConnection == onStale)
        #expect(retries.onConnectFailure == onConnect)
    }

    @Test func `attempts 0 tries nothing again`() throws {
        #expect(try self.retries("routes: [{name: r, request: {retries: {attempts: 0}}}]").limit == 0)
    }

    @Test(arguments: [
        ("3", "2:39: routes[0].request.retries: must be a map, not \"3\""),
        (
            "{attempts: 11}",
            "2:50: routes[0].request.retries.attempts: \"11\": must be a whole number from 0 to 10"
        ),
        (
            "{attempts: many}",
            "2:50: routes[0].request.retries.attempts: \"many\": must be a whole number from 0 to 10"
        ),
        (
            "{on: [stale]}",
            "2:45: routes[0].request.retries.on[0]: \"stale\": must be connect_failure or stale_connection"
        ),
        (
            "{on: []}",
            "2:44: routes[0].request.retries.on: an empty list means nothing here; leave the key out or name something"
        ),
        ("{attemps: 1}", "2:40: routes[0].request.retries: unknown key \"attemps\"; did you mean \"attempts\"?"),
        (
            "{attempts: 0, on: connect_failure}",
            "2:57: routes[0].request.retries.on: does nothing while attempts is 0, which tries nothing again; leave one "
                + "of them out"
        ),
    ])
    func `a wrong value is refused`(retries: String, problem: String) {
        let found = problems("version: 1\nroutes: [{name: r, request: {retries: \(retries)}}]")
        #expect(found == ["pintle.yaml:" + problem])
    }

    @Test(arguments: [
        ("{attempts: 0}", "; tries nothing again"), ("{attempts: 1, on: stale_connection}", ""),
        ("{attempts: 1}", "; tries again once on connect_failure and stale_connection"),
        ("{attempts: 4, on: connect_failure}", "; tries again up to 4 times on connect_failure"),
    ])
    func `check says what is tried again`(retries: String, words: String) throws {
        let note = Lint(try policy("routes: [{name: r, request: {retries: \(retries)}}]")).findings.first?.message
        #expect(note == "\"r\": every method every host → where it was aimed\(words)")
    }
}
