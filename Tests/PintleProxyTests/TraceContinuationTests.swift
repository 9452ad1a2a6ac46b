// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

@testable import PintleProxy

/// The clients whose traces are continued.
struct TraceContinuationTests {
    private static let local = Client.address(IPAddress(v4: 0x7F00_0001))
    private static let remote = Client.address(IPAddress(v4: 0x0A01_0203))

    @Test(arguments: [nil, local, remote, .user(1000)], [nil, "ana"])
    func `off continues none`(client: Client?, user: String?) {
        #expect(!TracingConfiguration.Continuation.off.includes(client, user: user, hasUsers: user != nil))
    }

    @Test(
        arguments: [
            (local, true), (.address(IPAddress(v6High: 0, low: 1)), true), (.user(1000), true), (remote, false),
            (nil, false),
        ] as [(Client?, Bool)])
    func `trusted are clients of this machine, or users if there are any`(client: Client?, isLocal: Bool) {
        let trusted = TracingConfiguration.Continuation.trusted
        #expect(trusted.includes(client, user: nil, hasUsers: false) == isLocal)
        #expect(!trusted.includes(client, user: nil, hasUsers: true))
        #expect(trusted.includes(client, user: "ana", hasUsers: true))
    }

    @Test(
        arguments: [(remote, true), (local, false), (.user(1000), false), (nil, false)] as [(Client?, Bool)])
    func `networks are those that the client connects from`(client: Client?, isIncluded: Bool) throws {
        let networks = TracingConfiguration.Continuation.networks([try CIDR("192.0.2.0/24"), try CIDR("10.0.0.0/8")])
        for user in [nil, "ana"] {
            #expect(networks.includes(client, user: user, hasUsers: user != nil) == isIncluded)
        }
    }
}
