// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// The lines of `pintle explain` about rules for named clients.
struct NamedClientExplanationTests {
    @Test(arguments: [
        (ProxyIdentity(user: "alice"), "user alice is none of its tags ci, suite-*"),
        (ProxyIdentity(user: "bob", tag: "ci"), "user bob with tag ci is none of its users alice, ops-*"),
        (ProxyIdentity(), "a client without a name is none of its users alice, ops-*"),
    ])
    func `a route for users with tags says which of them the client lacks`(client: ProxyIdentity, reason: String) throws
    {
        let policy = try NamedClientsTests.policy(
            NamedClientsTests.users
                + "routes: [{name: r, match: {users: [alice, \"ops-*\"], tags: [ci, \"suite-*\"]}}]")
        let head = try RequestHead(spelled: ["GET http://a.test/"], minorVersion: 1)
        let lines = try Explanation(policy, head, of: client).lines
        #expect(
            lines.contains { $0.topic == Explanation.passedOver && $0.text == "routes[0] \"r\": \(reason)" }, "\(lines)"
        )
    }

    @Test func `networks are told to the clients whose addresses they judge`() throws {
        let policy = try NamedClientsTests.policy(
            NamedClientsTests.users
                + "destinations: {deny: [{host: 10.0.0.0/8, users: [bob]}, {host: 192.0.2.0/24, users: [alice]}]}")
        let head = try RequestHead(spelled: ["GET http://a.test/"], minorVersion: 1)
        for (client, rule) in [
            (NamedClientsTests.alice, "deny[1] \"192.0.2.0/24\""), (NamedClientsTests.bob, "deny[0] \"10.0.0.0/8\""),
        ] {
            let lines = try Explanation(policy, head, of: client).lines.map(\.text)
            #expect(lines.contains("the address that is dialled is judged by destinations.\(rule)"), "\(lines)")
        }
        #expect(try Explanation(policy, head).lines.allSatisfy { !$0.text.contains("dialled") })
    }
}
