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

    // MARK: Domains to search

    private func captured(_ text: String, hasOwnDomain: Bool = false) -> String? {
        ResolverFile.captured(text, hasOwnDomain: hasOwnDomain)
    }

    @Test(arguments: ["search default.svc.cluster.local corp.example", "domain\tcorp.example", "search . corp.example"])
    func `domains to search are left out, and all else stays`(line: String) {
        let text = "# search a\n\(line)\nnameserver 192.0.2.1\noptions ndots:5\n"
        #expect(
            self.captured(text) == "search .\n# search a\nnameserver 192.0.2.1\noptions ndots:5\n")
    }

    @Test func `a file without domains stays as it is`() {
        #expect(self.captured("nameserver 192.0.2.1\noptions edns0\n") == nil)
        #expect(self.captured("") == nil)
        #expect(self.captured("search .\nnameserver 192.0.2.1\n", hasOwnDomain: true) == nil)
        #expect(self.captured("search\nnameserver 192.0.2.1\n") == nil)
    }

    @Test func `the domain of the machine's own name is not searched, either`() {
        #expect(
            self.captured("nameserver 192.0.2.1\n", hasOwnDomain: true) == "search .\nnameserver 192.0.2.1\n")
    }

    // MARK: Servers on a link

    @Test(arguments: ["fe80::1%eth0", "fe80::1", "febf::53", "2001:db8::1%2"])
    func `servers on a link, which a command's network does not have, are replaced`(server: String) {
        #expect(
            self.captured("nameserver\t\(server)\nnameserver 192.0.2.1\noptions edns0\n")
                == "nameserver 192.0.2.53\nnameserver 192.0.2.1\noptions edns0\n")
        #expect(self.captured("domain a.example\nnameserver \(server)") == "search .\nnameserver 192.0.2.53")
    }

    @Test(arguments: ["fec0::1", "fe7f::1", "::1", "169.254.169.253", "nonsense"])
    func `other servers stay`(server: String) {
        #expect(self.captured("nameserver \(server)\n") == nil)
    }
}
