// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// The page's reader of filters, which has to agree with the program's: both read `Tests/Vectors/filters.json`.
struct PageFilterTests {
    @Test func `the page reads filters as the program does`() throws {
        let tests = #filePath.replacing("EndToEndTests/Admin/PageFilterTests.swift", with: "Page/")
        let node = try ChildProcess("/usr/bin/node", ["--test", tests])
        #expect(try node.waitForExit() == 0, "\(node.output.filter { $0.contains("not ok") })")
        #expect(node.output.contains { $0.hasPrefix("# pass ") && $0 != "# pass 0" }, "\(node.output.suffix(10))")
    }
}
