// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Reasons to refuse a reload: hosts that work now and would not any more, judged by what requests have relied on.
struct ReloadJudgementTests {
    private let site: PrivateSite

    init() throws { self.site = try PrivateSite() }

    private func write(_ rules: String, in site: PrivateSite) throws {
        try site.folder.write("version: 1\nlog: {format: json, exchanges: \"-\"}\n\(rules)\n", to: "pintle.yaml")
    }

    private func reload(_ site: PrivateSite, _ flags: String...) throws -> ChildProcess {
        try PintleProcess.run(["reload"] + flags, environment: ["XDG_STATE_HOME": site.folder.path])
    }

    /// Two policies that only routes name; the second one pins a key that the origin has not.
    private var policies: String {
        "trust:\n  right: {roots: [root.pem], pinning: public_key, pins: [\"\(self.site.leaf.pin)\"]}\n"
            + "  wrong: {roots: [root.pem], pinning: public_key, pins: [\"\(self.site.backup.pin)\"]}\n"
    }

    private func route(_ name: String, host: String, trust: String) -> String {
        "  - {name: \(name), match: {hosts: [\(host)]}, upstream: \"https://localhost:\(self.site.origin.httpsPort)\", "
            + "trust: \(trust)}\n"
    }

    @Test func `LOOK-40 a host that only a route's policy has judged is judged by that again`() throws {
        let rules =
            self.policies + "routes:\n" + self.route("up", host: "site.test", trust: "right")
            + self.route("other", host: "moved.test", trust: "wrong")
        let pintle = try PintleProcess(rules, folder: self.site.folder)
        #expect(try self.site.fetch(pintle).status == 200)
        #expect(try Curl.run(proxy: pintle.port, "http://moved.test/hello").status == 502)
        for flags in [[], ["--live"]] {
            let reload = try PintleProcess.run(
                ["reload"] + flags, environment: ["XDG_STATE_HOME": self.site.folder.path])
            #expect(reload.exitCode == 0, "\(reload.lines)")
            #expect(try self.site.fetch(pintle).status == 200)
        }
    }

    @Test func `LOOK-41 a chain that has expired since blocks nothing`() throws {
        let short = try PrivateSite { pki, issuer in
            try pki.leaf(
                dns: ["localhost"], signedBy: issuer, validity: .window(.seconds(-3600), .seconds(5)))
        }
        let rules = "trust: {site: {hosts: [localhost], roots: [root.pem]}}\n\(short.upgrade)"
        let pintle = try PintleProcess(rules, folder: short.folder)
        #expect(try short.fetch(pintle).status == 200)
        let plain = "http://localhost:\(short.origin.httpPort)/hello"
        while UnixTime.now <= short.leaf.certificate.notAfter {
            #expect(try Curl.run(proxy: pintle.port, plain).status == 200)
        }
        let reload = try self.reload(short)
        #expect(reload.exitCode == 0, "\(reload.lines)")
    }

    @Test func `LOOK-42 a route that changes to another policy is looked at`() throws {
        func rules(_ trust: String) -> String {
            self.policies + "routes:\n" + self.route("up", host: "site.test", trust: trust)
        }
        let pintle = try PintleProcess(rules("right"), folder: self.site.folder)
        #expect(try self.site.fetch(pintle).status == 200)
        try self.write(rules("wrong"), in: self.site)
        for flags in [[], ["--live"]] {
            let refused = try PintleProcess.run(
                ["reload"] + flags, environment: ["XDG_STATE_HOME": self.site.folder.path])
            #expect(refused.exitCode == 1, "\(refused.lines)")
            let host = "localhost:\(self.site.origin.httpsPort): trust.wrong would refuse it"
            #expect(refused.errors.filter { $0.contains(host) }.count == 1, "\(refused.lines)")
        }
        #expect(try self.site.fetch(pintle).status == 200)
        // A route that leads elsewhere relies on nothing that was seen.
        try self.write(
            rules("wrong").replacingOccurrences(of: "https://localhost", with: "https://127.0.0.1"), in: self.site)
        #expect(try self.reload(self.site).exitCode == 0)
    }

    @Test func `LOOK-42 a verified tunnel is looked at by its route, too`() throws {
        func rules(_ trust: String) -> String {
            self.policies + "routes: [{name: t, match: {hosts: [localhost]}, connect: verify, trust: \(trust)}]"
        }
        let pintle = try PintleProcess(rules("right"), folder: self.site.folder)
        let root = "\(self.site.folder.path)/root.pem"
        let url = "https://localhost:\(self.site.origin.httpsPort)/hello"
        #expect(try Curl.run(proxy: pintle.port, "--cacert", root, url).status == 200)
        #expect(try self.reload(self.site).exitCode == 0)
        #expect(try Curl.run(proxy: pintle.port, "--cacert", root, url).status == 200)
        try self.write(rules("wrong"), in: self.site)
        let refused = try self.reload(self.site)
        #expect(refused.exitCode == 1, "\(refused.lines)")
        #expect(refused.errors.contains { $0.contains("trust.wrong would refuse it") }, "\(refused.lines)")
    }

    @Test func `LOOK-114 a step from report to enforce that would refuse a host is not taken`() throws {
        func rules(_ enforcement: String, trust: String = "wrong") -> String {
            "enforcement: \(enforcement)\n" + self.policies + "routes:\n"
                + self.route("up", host: "site.test", trust: trust)
        }
        let pintle = try PintleProcess(rules("report"), folder: self.site.folder)
        #expect(try self.site.fetch(pintle).status == 200)
        // Nothing breaks while the same is only reported.
        #expect(try self.reload(self.site).exitCode == 0)
        #expect(try self.site.fetch(pintle).status == 200)
        try self.write(rules("enforce"), in: self.site)
        for flags in [[], ["--live"]] {
            let refused = try PintleProcess.run(
                ["reload"] + flags, environment: ["XDG_STATE_HOME": self.site.folder.path])
            #expect(refused.exitCode == 1, "\(refused.lines)")
            let host = "localhost:\(self.site.origin.httpsPort): trust.wrong would refuse it"
            #expect(refused.errors.filter { $0.contains(host) }.count == 1, "\(refused.lines)")
        }
        #expect(try self.site.fetch(pintle).status == 200)
        // The pins that the host matches may be enforced.
        try self.write(rules("enforce", trust: "right"), in: self.site)
        let reload = try self.reload(self.site)
        #expect(reload.exitCode == 0, "\(reload.lines)")
        #expect(try self.site.fetch(pintle).status == 200)
    }
}
