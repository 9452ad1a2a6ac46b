// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleTesting
import Testing

@testable import PintleAudit

/// Lookups of CAA records with name servers of this machine.
@Suite struct CAALookupTests {
    private func look(
        _ name: String, wildcard: Bool = false, _ servers: Int..., timeLimit: Duration = .seconds(60)
    ) throws -> CAAReport {
        let client = NameServerClient(
            servers: try servers.map { try SocketAddress(ipAddress: "127.0.0.1", port: $0) })
        return CAALookup(client: client, timeLimit: timeLimit).climb(
            from: CAALookup.Subject(name: name, isWildcard: wildcard))
    }

    @Test func `the names above one are asked until one has records`() throws {
        let server = try ScriptedNameServer([
            "x.www.a.test": .records([]), "a.test": .records([.init("issue", "ca.test")]),
            "test": .records([.init("issue", ";")]),
        ])
        let report = try self.look("x.www.a.test", server.port)
        #expect(report.place == "a.test" && report.permission == .ofAuthorities(["ca.test"]))
        #expect(server.asked == ["x.www.a.test", "www.a.test", "a.test"])
        #expect(report.summary == "x.www.a.test: ca.test by 0 issue \"ca.test\" at a.test")
    }

    @Test func `without records anywhere every authority may issue`() throws {
        let server = try ScriptedNameServer([:])
        let report = try self.look("a.test", server.port)
        #expect(report.permission == .ofAnyAuthority && report.place == nil && server.asked == ["a.test", "test"])
        #expect(report.summary == "a.test: any authority")
    }

    @Test func `the records of an alias are those of the name`() throws {
        let server = try ScriptedNameServer(["a.test": .alias("cdn.other", [.init("issue", "b.test")])])
        let report = try self.look("a.test", server.port)
        #expect(report.permission == .ofAuthorities(["b.test"]) && report.place == "a.test")
    }

    @Test func `an answer that is too long comes by TCP`() throws {
        let records = (0..<200).map { ScriptedNameServer.Record("issue", "ca-\($0).test") }
        let server = try ScriptedNameServer(["a.test": .byStream(records)])
        #expect(try self.look("a.test", server.port).records.count == 200)
        #expect(server.asked == ["a.test", "tcp a.test"])
    }

    @Test func `a server that refuses, is broken or is closed leads to the next`() throws {
        let refusing = try ScriptedNameServer(["a.test": .code(5)])
        let broken = try ScriptedNameServer([
            "a.test": .messages { question in
                [Array(ScriptedNameServer.message(to: question, [.init("issue", "x")]).dropLast())]
            }
        ])
        let good = try ScriptedNameServer(["a.test": .records([.init("issue", "ca.test")])])
        let report = try self.look("a.test", FreePort.find(), refusing.port, broken.port, good.port)
        #expect(report.permission == .ofAuthorities(["ca.test"]))
        #expect(refusing.asked == ["a.test"] && broken.asked == ["a.test"])
    }

    @Test func `forged answers to other questions are passed over`() throws {
        let server = try ScriptedNameServer([
            "a.test": .messages { question in
                let good = ScriptedNameServer.message(to: question, [.init("issue", "ca.test")])
                let forged =
                    [good[0] ^ 1] + ScriptedNameServer.message(to: question, [.init("issue", "evil.test")]).dropFirst()
                return [forged, [1], good]
            }
        ])
        #expect(try self.look("a.test", server.port).permission == .ofAuthorities(["ca.test"]))
    }

    @Test func `each failure says which name, which server and why`() throws {
        let failing = try ScriptedNameServer(["a.test": .code(2)])
        #expect(
            try self.look("a.test", failing.port).failure
                == "a.test: the name server 127.0.0.1 at port \(failing.port) answers with SERVFAIL")
        let closed = try FreePort.find()
        #expect(
            try self.look("a.test", closed).failure
                == "a.test: the name server 127.0.0.1 at port \(closed) gives no answer: connection refused")
        #expect(try self.look("a.test").failure == "a.test: no name server is known; name one with --resolver")
        #expect(try self.look("a.test", closed, timeLimit: .zero).failure == "a.test: no time is left to ask for it")
        let silent = try ScriptedNameServer(["a.test": .silence])
        #expect(
            try self.look("a.test", silent.port, timeLimit: .milliseconds(100)).failure
                == "a.test: the name server 127.0.0.1 at port \(silent.port) gives no answer: it says nothing within the time limit"
        )
        #expect(try self.look("a..test", failing.port).failure == "no name server knows a name like a..test")
    }

    @Test func `the name is the one that the certificate has for the host`() {
        func subjects(_ host: String, _ names: [[String]]) -> [String] {
            CAALookup.subjects(of: host, certifiedBy: names).map { $0.isWildcard ? "*.\($0.name)" : $0.name }
        }
        #expect(subjects("a.b.test", []) == ["a.b.test"])
        #expect(subjects("a.b.test", [["x.test"]]) == ["a.b.test"])
        #expect(subjects("a.b.test", [["*.B.test"]]) == ["*.b.test"])
        #expect(
            subjects("a.b.test", [["*.b.test", "a.b.test"], ["*.b.test"], ["a.b.test"]]) == ["a.b.test", "*.b.test"])
        #expect(subjects("127.0.0.1", [["127.0.0.1"]]) == [] && subjects("::1", []) == [])
        #expect(subjects("localhost", [["localhost"]]) == ["localhost"])
    }
}
