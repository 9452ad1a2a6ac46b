// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleStub

struct ResolverFileTests {
    private func servers(_ text: String) -> [String] { ResolverFile.loopbackServers(in: text).map(\.description) }

    @Test func `the servers of the loopback are found, each once`() {
        let text = """
            # nameserver 127.0.0.9
            search corp.example
            nameserver 127.0.0.53
            nameserver\t::1 trailing
              nameserver 127.0.0.1
            nameserver 192.0.2.1
            nameserver 127.0.0.53
            nameserver fe80::1%eth0
            options edns0 trust-ad
            """
        #expect(self.servers(text) == ["127.0.0.53", "::1", "127.0.0.1"])
    }

    @Test func `a file without servers means this machine, and one with others none`() {
        #expect(self.servers("") == ["127.0.0.1"])
        #expect(self.servers("nameserver 192.0.2.1\nnameserver nonsense\n") == [])
    }
}
