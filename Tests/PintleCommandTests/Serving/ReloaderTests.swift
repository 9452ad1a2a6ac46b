// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import pintle

/// The answer to a reload.
struct ReloaderTests {
    @Test func `the first hosts that would be refused are named, and the others counted`() {
        let hosts = (0..<250).map { "h\($0).test:443: refused" }
        #expect(Reloader.told(hosts) == Array(hosts.prefix(100)) + ["and 150 more"])
        #expect(Reloader.told(Array(hosts.prefix(100))) == Array(hosts.prefix(100)))
        #expect(Reloader.told([]) == [])
    }
}
