// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import pintle

struct PagerTests {
    private func pager(_ environment: [String: String], hasLess: Bool = true) -> Pager.Program? {
        Pager.program(environment) { $0 == "less" && hasLess ? "/usr/bin/less" : nil }
    }

    @Test func `PAGER comes first, then less, then nothing`() {
        let own = Pager.Program(words: ["/bin/sh", "-c", "more -d"], takesEscapes: false)
        let less = Pager.Program(words: ["/usr/bin/less", "-FRX"], takesEscapes: true)
        #expect(self.pager(["PAGER": "more -d", "TERM": "xterm"]) == own)
        #expect(self.pager(["TERM": "xterm"]) == less)
        #expect(self.pager(["TERM": "xterm"], hasLess: false) == nil)
    }

    @Test(arguments: [["PAGER": "", "TERM": "xterm"], ["TERM": "dumb"], [:]])
    func `an empty PAGER, and a terminal that can do little, have no pager`(environment: [String: String]) {
        #expect(self.pager(environment) == nil)
    }
}
