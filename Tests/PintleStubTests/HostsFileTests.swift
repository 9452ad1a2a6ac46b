// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleStub

/// hosts(5) as a command in a captured network sees it.
struct HostsFileTests {
    private func captured(_ text: String, machine: String = "vm") -> String? {
        HostsFile.captured(text, machine: machine)
    }

    @Test(arguments: [
        "", "# nothing\n\n",
        "127.0.0.1 localhost # this machine\n127.0.1.1\tvm.corp.example vm\n",
        "::1 localhost ip6-localhost ip6-loopback\nff02::1 ip6-allnodes\nfe00::0 ip6-localnet\n",
        "127.0.0.1 localhost4.localdomain4 localhost4 app.localhost\n",
        // Programs read no address there.
        "fe80::1%eth0 printer.example\nnowhere printer.example\n192.0.2.1\n",
    ])
    func `the machine's own names stay`(text: String) { #expect(self.captured(text) == nil) }

    @Test func `other names are left out, wherever they lead`() {
        let text = """
            127.0.0.1 localhost dev.example
            127.0.0.1\tdev.example www.dev.example  # servers of this machine
            # a comment
            192.0.2.7 db.corp.example db
            0.0.0.0 ads.example
            2001:db8::7 LocalHost.example
            """
        #expect(self.captured(text) == "127.0.0.1 localhost\n# a comment")
    }

    @Test func `the machine's name leads to the loopback`() {
        #expect(
            self.captured("172.17.0.2 VM\n2001:db8::2 vm vm.corp.example\n") == "127.0.0.1 VM\n::1 vm vm.corp.example\n"
        )
        #expect(
            self.captured("192.0.2.2 vm.corp.example vm mail.corp.example", machine: "vm.corp.example")
                == "127.0.0.1 vm.corp.example vm")
    }

    @Test func `a host that only begins with the machine's name is another one`() {
        #expect(self.captured("192.0.2.2 vm.example.com\n192.0.2.3 vmx") == "")
        #expect(self.captured("192.0.2.2 vm", machine: "") == "")
    }
}
