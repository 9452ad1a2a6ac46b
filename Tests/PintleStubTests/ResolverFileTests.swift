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

    private func withoutSearch(_ text: String, hasOwnDomain: Bool = false) -> String? {
        ResolverFile.withoutSearch(text, hasOwnDomain: hasOwnDomain)
    }

    @Test(arguments: ["search default.svc.cluster.local corp.example", "domain\tcorp.example", "search . corp.example"])
    func `domains to search are left out, and all else stays`(line: String) {
        let text = "# search a\n\(line)\nnameserver 192.0.2.1\noptions ndots:5\n"
        #expect(
            self.withoutSearch(text) == "search .\n# search a\nnameserver 192.0.2.1\noptions ndots:5\n")
    }

    @Test func `a file without domains stays as it is`() {
        #expect(self.withoutSearch("nameserver 192.0.2.1\noptions edns0\n") == nil)
        #expect(self.withoutSearch("") == nil)
        #expect(self.withoutSearch("search .\nnameserver 192.0.2.1\n", hasOwnDomain: true) == nil)
        #expect(self.withoutSearch("search\nnameserver 192.0.2.1\n") == nil)
    }

    @Test func `the domain of the machine's own name is not searched, either`() {
        #expect(
            self.withoutSearch("nameserver 192.0.2.1\n", hasOwnDomain: true) == "search .\nnameserver 192.0.2.1\n")
    }
}
