// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Marks of packets, and the interface that they leave by.
struct ConnectionRuleTests {
    /// Returns the kernel's list of connections to a port, with their marks.
    private func connections(to port: Int) throws -> [String] {
        let process = try ChildProcess("/usr/bin/ss", ["-Htn", "--tos", "dport", "=", ":\(port)"])
        try process.waitForExit()
        return process.output
    }

    @Test func `packets are marked, those of tunnels too`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("routes: [{name: r, request: {service_type: voip}}]")
        // DSCP 46 is in the upper six bits.
        #expect(try pintle.ask(get(origin.port)).text == "done")
        let kept = try self.connections(to: origin.port)
        #expect(kept.count == 1 && kept[0].contains("tos:0xb8"), "\(kept)")
        let client = try pintle.connect()
        try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().status == 200)
        let both = try self.connections(to: origin.port)
        #expect(both.count == 2 && both.allSatisfy { $0.contains("tos:0xb8") }, "\(both)")
    }

    @Test func `requests leave by the interface of their route`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            """
            routes:
              - {name: here, match: {paths: [/here]}, request: {interface: lo}}
              - {name: nowhere, match: {paths: [/nowhere]}, request: {interface: nowhere0}}
              - {name: tunnels, match: {methods: [CONNECT]}, request: {interface: nowhere0}}
            """)
        #expect(try pintle.ask(get(origin.port, "/here")).text == "done")
        #expect(try pintle.ask(get(origin.port, "/other")).text == "done")
        for request in [
            get(origin.port, "/nowhere"), "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n",
        ] {
            let answer = try pintle.ask(request)
            #expect(answer.status == 502 && answer.text.contains("connect-failure"), "\(answer)")
            #expect(answer.text.contains("can leave by nowhere0; name one of this machine's interfaces"), "\(answer)")
        }
        // Another interface has its own connections.
        #expect(origin.connections.count == 2)
    }
}
