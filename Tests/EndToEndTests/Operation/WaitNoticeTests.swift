// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Waits that say for how long.
struct WaitNoticeTests {
    @Test func `a host that is silent is waited for, and that is said`() throws {
        let origin = try RawOrigin { _ = try $0.waitForEnd() }
        let place = "127.0.0.1:\(origin.port)"
        let process = try ChildProcess(PintleProcess.binary, ["pins", "show", "https://\(place)/path"])
        try process.waitForLine("the notice") {
            $0 == "pintle pins show: \(place): waiting for 10s at most, after as long for its name"
        }
        process.signal(SIGKILL)
        _ = try process.waitForExit()
    }

    @Test func `the end of a proxy says for which time it lets exchanges finish`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess("limits: {drain_timeout: 300ms}")
        let client = try pintle.connect()
        try client.send(get(origin.port))
        try origin.waitForRequests(1)
        #expect(try pintle.stop() == 0)
        let draining = try pintle.waitForMessages("draining")[0]
        #expect(draining["connections"] as? Int == 1 && draining["at_most"] as? String == "300ms", "\(draining)")
    }

    @Test func `an audit says what each host may take`() throws {
        let stage = try AuditStage()
        let server = try OpenSSLServer([stage.leaves("127.0.0.1")[1]])
        try stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        let process = try stage.audit(["--timeout", "7s"])
        #expect(
            process.errors.contains(
                "pintle audit: 1 server: looking up a name may take 7s, and so may all handshakes with one address"),
            "\(process.errors)")
    }

    @Test func `a request of a command that waits for an answer elsewhere is told with its time`() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            version: 1
            destinations: {ask: ["*.maybe.example"]}
            ask: {timeout: 1s}
            """, to: "pintle.yaml")
        let process = try PintleProcess.run(
            ["run", "--devtools", "--", "/usr/bin/curl", "-so", "/dev/null", "http://x.maybe.example/a?b=c"],
            environment: RunStage.environment, folder: folder.path)
        let sentence =
            /pintle: may GET http:\/\/x\.maybe\.example\/a .*asks, for 1 s; answer it on the page, or by the webhook/
        #expect(process.errors.contains { $0.wholeMatch(of: sentence) != nil }, "\(process.errors)")
    }
}
