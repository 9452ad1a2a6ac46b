// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Another configuration in the place of the running one: SIGHUP and `pintle reload`.
struct ReloadTests {
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
    }

    private func write(_ rules: String, in folder: TemporaryFolder? = nil) throws {
        try (folder ?? self.folder).write(
            "version: 1\nlog: {format: json, exchanges: \"-\"}\n\(rules)\n", to: "pintle.yaml")
    }

    private func adding(_ value: String) -> String {
        "routes: [{name: r, request: {headers: {set: {X-Rule: \(value)}}}}]"
    }

    private func reload(_ arguments: String..., in folder: TemporaryFolder? = nil) throws -> ChildProcess {
        try PintleProcess.run(
            ["reload"] + arguments, environment: ["XDG_STATE_HOME": (folder ?? self.folder).path])
    }

    @Test func `a signal puts the file in force, and connections and counters go on`() throws {
        let pintle = try PintleProcess(self.adding("one"), folder: self.folder)
        let client = try pintle.connect()
        try client.send(get(self.origin.port))
        #expect(try client.readResponse().text == "done")
        try self.write(self.adding("two"))
        pintle.process.signal(SIGHUP)
        _ = try pintle.waitForMessages("reloaded \(self.folder.path)/pintle.yaml")
        try client.send(get(self.origin.port))
        #expect(try client.readResponse().text == "done")
        #expect(self.origin.requests.map { $0["X-Rule"] } == ["one", "two"])
        _ = try pintle.waitForExchanges(2)
        #expect(try pintle.counters()["completed"] as? Int == 2)
    }

    @Test func `the level of the log is the only part of it that a reload changes`() throws {
        func write(_ log: String) throws { try self.folder.write("version: 1\nlog: {\(log)}\n", to: "pintle.yaml") }
        let pintle = try PintleProcess("", log: "{format: json, exchanges: \"-\", level: notice}", folder: self.folder)
        try write("format: json, exchanges: \"-\", level: debug")
        pintle.process.signal(SIGHUP)
        _ = try pintle.waitForMessages("reloaded \(self.folder.path)/pintle.yaml")
        _ = try pintle.ask(get(self.origin.port))
        // Changes of the activity are told at debug.
        let states = try pintle.waitForMessages("activity.state")
        #expect(states[0]["level"] as? String == "debug")
        try write("format: json, exchanges: \"-\", level: critical")
        #expect(try self.reload().exitCode == 0)
        try write("format: text, exchanges: off, redact: off")
        let refused = try self.reload()
        #expect(refused.exitCode == 3)
        let words = "log.format, log.exchanges, log.redact cannot change while Pintle runs"
        #expect(refused.errors.first?.hasPrefix(words) == true, "\(refused.lines)")
        // The refusal is an error, and not critical.
        #expect(try pintle.stop() == 0)
        #expect(!pintle.process.errors.contains { $0.contains("cannot change") }, "\(pintle.process.errors)")
    }

    @Test func `LOOK-19 a client that a reload excludes is refused at its next request`() throws {
        let pintle = try PintleProcess("", folder: self.folder)
        let client = try pintle.connect()
        try client.send(get(self.origin.port))
        #expect(try client.readResponse().text == "done")
        try self.write("clients: {allow: [192.0.2.0/24]}")
        #expect(try self.reload().exitCode == 0)
        try client.send(get(self.origin.port))
        let refused = try client.readResponse()
        #expect(refused.status == 403 && refused.text.contains("client-denied"), "\(refused)")
        #expect(refused["Connection"] == "close")
        try self.write("")
        #expect(try self.reload().exitCode == 0)
        #expect(try pintle.ask(get(self.origin.port)).text == "done", "whoever is let in again is served again")
    }

    @Test func `LOOK-19 the limits of a head are those in force when it comes`() throws {
        let pintle = try PintleProcess("", folder: self.folder)
        let client = try pintle.connect()
        let field = "X: \(String(repeating: "a", count: 2000))\r\n"
        try client.send(get(self.origin.port, fields: field))
        #expect(try client.readResponse().text == "done")
        try self.write("limits: {header_line: 1KiB}")
        #expect(try self.reload().exitCode == 0)
        try client.send(get(self.origin.port, fields: field))
        #expect(try client.readResponse().status == 431)
    }

    @Test func `LOOK-19 the end waits as long as the configuration in force says`() throws {
        let pintle = try PintleProcess("limits: {drain_timeout: 1h}", folder: self.folder)
        let client = try pintle.connect()
        try client.send("CONNECT 127.0.0.1:\(self.origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try self.write("limits: {drain_timeout: 1ms}")
        #expect(try self.reload().exitCode == 0)
        // An hour would be waited for the tunnel.
        #expect(try pintle.stop() == 0)
    }

    @Test func `what is under way ends as it began`() throws {
        let mayAnswer = Watched(false)
        let slow = try RawOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "the reload") { $0 }
            try connection.send(response("<html>", fields: "Content-Type: text/html\r\n"))
        }
        let pintle = try PintleProcess("routes: [{name: old}]", folder: self.folder)
        let client = try pintle.connect()
        try client.send(get(slow.port))
        try slow.waitForRequests(1)
        try self.write("routes: [{name: new, response: {body: json}}]")
        #expect(try self.reload().exitCode == 0)
        mayAnswer.change { $0 = true }
        #expect(try client.readResponse().text == "<html>")
        #expect(try pintle.waitForExchanges(1)[0]["route"] as? String == "old")
        #expect(try pintle.ask(get(slow.port)).status == 502)
        #expect(try pintle.waitForExchanges(2)[1]["route"] as? String == "new")
    }

    @Test(arguments: [
        ("routes: [{nam: x}]", ":3:11: routes[0]: unknown key \"nam\""),
        ("routes: [", "pintle.yaml:"), ("engine: {threads: 7}", "engine.threads cannot change while Pintle runs"),
    ])
    func `a file that cannot be taken changes nothing`(rules: String, message: String) throws {
        let pintle = try PintleProcess(self.adding("one"), folder: self.folder)
        try self.write(rules)
        let process = try self.reload()
        #expect(process.exitCode == 3 && process.errors.contains { $0.contains(message) }, "\(process.lines)")
        pintle.process.signal(SIGHUP)
        _ = try pintle.waitForMessages("the configuration was not reloaded; the running one stays", 2)
        #expect(try pintle.ask(get(self.origin.port)).text == "done")
        #expect(self.origin.requests[0]["X-Rule"] == "one")
    }

    @Test(arguments: [[], ["--live"]])
    func `pins that a host which works does not satisfy are refused, unless forced`(flags: [String]) throws {
        let site = try PrivateSite()
        func rules(_ pin: String) -> String {
            "trust: {site: {hosts: [localhost], roots: [root.pem], pinning: public_key, pins: [\"\(pin)\"]}}\n"
                + site.upgrade
        }
        let pintle = try PintleProcess(rules("\(site.leaf.pin)"), folder: site.folder)
        #expect(try site.fetch(pintle).status == 200)
        try self.write(rules("\(site.backup.pin)"), in: site.folder)
        let environment = ["XDG_STATE_HOME": site.folder.path]
        let refused = try PintleProcess.run(["reload"] + flags, environment: environment)
        #expect(refused.exitCode == 1, "\(refused.lines)")
        let host = "localhost:\(site.origin.httpsPort): trust.site would refuse it"
        #expect(refused.errors.filter { $0.contains(host) }.count == 1, "\(refused.lines)")
        #expect(refused.errors.contains { $0.contains("1 host that works now") }, "\(refused.lines)")
        #expect(try site.fetch(pintle).status == 200)
        let forced = try PintleProcess.run(["reload", "--force"] + flags, environment: environment)
        #expect(forced.exitCode == 0, "\(forced.lines)")
        #expect(try site.fetch(pintle).problem == "pin-mismatch")
    }

    @Test func `a chain that ended at a pinned leaf is judged as the server sent it`() throws {
        let site = try PrivateSite()
        try site.folder.write(site.leaf.certificatePEM, to: "leaf.pem")
        let trust = "trust: {site: {hosts: [localhost], roots: [root.pem], "
        let pintle = try PintleProcess(
            trust + "pinning: certificate, certificates: [leaf.pem]}}\n" + site.upgrade, folder: site.folder)
        #expect(try site.fetch(pintle).status == 200)
        let environment = ["XDG_STATE_HOME": site.folder.path]
        for policy in ["pinning: certificate, certificates: [leaf.pem]}}\n", "min_tls: \"1.2\"}}\n"] {
            try self.write(trust + policy + site.upgrade, in: site.folder)
            let reload = try PintleProcess.run(["reload"], environment: environment)
            #expect(reload.exitCode == 0, "\(reload.lines)")
            #expect(try site.fetch(pintle).status == 200)
        }
    }

    @Test func `what only a live look can see is seen by one`() throws {
        let site = try PrivateSite()
        let rules = "trust: {site: {hosts: [localhost], roots: [root.pem]}}\n\(site.upgrade)"
        let pintle = try PintleProcess(rules, folder: site.folder)
        #expect(try site.fetch(pintle).status == 200)
        // The chain last seen satisfies both; the server has another key by now.
        try site.origin.show(site.backup)
        site.origin.stop()
        try site.origin.start()
        try self.write(
            rules.replacingOccurrences(
                of: "roots: [root.pem]", with: "roots: [root.pem], pinning: public_key, pins: [\"\(site.leaf.pin)\"]"),
            in: site.folder)
        let environment = ["XDG_STATE_HOME": site.folder.path]
        let live = try PintleProcess.run(["reload", "--live"], environment: environment)
        #expect(live.exitCode == 1, "\(live.lines)")
        #expect(try PintleProcess.run(["reload"], environment: environment).exitCode == 0)
    }

    @Test func `a proxy is found by its process, and what is not there is said`() throws {
        let none = try self.reload()
        #expect(none.exitCode == 4 && none.errors[0].hasPrefix("no proxy runs"), "\(none.lines)")
        let first = try PintleProcess(folder: self.folder)
        let second = try PintleProcess(folder: self.folder)
        let several = try self.reload()
        #expect(several.exitCode == 2 && several.errors[0].contains("--pid"), "\(several.lines)")
        #expect(try self.reload("--pid", "\(first.process.pid)").exitCode == 0)
        #expect(try self.reload("--pid", "1").exitCode == 4)
        #expect(try second.stop() == 0)
        #expect(try self.reload().exitCode == 0)
        _ = try first.waitForMessages("reloaded \(self.folder.path)/pintle.yaml", 2)
    }
}
