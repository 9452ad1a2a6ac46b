// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTesting
import Testing

@testable import pintle

/// `pintle env --shell nft` (contract §7).
struct NetfilterRulesTests {
    private func text(_ programs: NetfilterRules.Programs, _ listen: [String]) throws -> String {
        try NetfilterRules(programs, to: try listen.map { try ListenAddress($0) }).text
    }

    @Test(arguments: [
        ["capture://127.0.0.1:3130"], ["capture://[::1]:3130"], ["capture://0.0.0.0:3130", "capture://[::]:3131"],
    ])
    func `nft takes the rules`(listen: [String]) throws {
        let folder = try TemporaryFolder()
        for programs in [try NetfilterRules.Programs(user: "1000"), try .init(user: "nobody")] {
            let file = try folder.write(try self.text(programs, listen), to: "rules.nft")
            // In a network of its own, so that nothing is changed even for a moment; unshare(1) makes root of every user.
            let process = try ChildProcess("/usr/bin/unshare", ["-Urn", "nft", "-f", file])
            #expect(try process.waitForExit() == 0, "\(process.lines)")
        }
    }

    @Test func `connections without a listener for them are refused, and none of the machine's own is touched`() throws
    {
        let text = try self.text(try .init(user: "1000"), ["127.0.0.1:1", "capture://127.0.0.1:3130"])
        #expect(text.contains("meta skuid 1000 ip daddr != 127.0.0.0/8 meta l4proto tcp dnat ip to 127.0.0.1:3130\n"))
        #expect(text.contains("meta skuid 1000 oif != \"lo\" meta nfproto ipv6 meta l4proto tcp reject\n"))
        let group = try self.text(try .init(group: "/sys/fs/cgroup/system.slice/b.service"), ["capture://[::1]:9"])
        #expect(group.contains("socket cgroupv2 level 2 \"system.slice/b.service\" ip6 daddr != ::1"))
    }

    @Test(arguments: ["", "-x", "a b", "a\"", "root\nflush ruleset"])
    func `what is no user is refused`(name: String) {
        #expect(throws: Malformed.self) { try NetfilterRules.Programs(user: name) }
    }

    @Test(arguments: ["", "/", "a\"b", "a\nb", "/sys/fs/cgroup/"])
    func `what is no control group is refused`(path: String) {
        #expect(throws: Malformed.self) { try NetfilterRules.Programs(group: path) }
    }

    @Test func `without a listener there are no rules`() {
        #expect(throws: Malformed.self) {
            try self.text(try .init(user: "1"), ["127.0.0.1:3128", "capture://127.0.0.1:0"])
        }
    }
}
