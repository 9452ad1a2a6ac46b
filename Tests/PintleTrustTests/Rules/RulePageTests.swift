// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PintleTrust

/// The page about the rules.
struct RulePageTests {
    @Test func `the page lists every rule, and which are about form`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/trust.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == Rule.allCases.count)
        for rule in Rule.allCases {
            let row = rows.first { $0.hasPrefix("| `\(rule.rawValue)` |") }
            #expect(row?.hasSuffix(rule.isForm ? "| yes |" : "|  |") == true, "\(rule.rawValue)")
        }
    }
}
