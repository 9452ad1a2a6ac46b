// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleAudit
import Testing

@Suite struct AuditPageTests {
    @Test func `the page lists every finding with its id, and every change`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/audit.md"), encoding: .utf8)
        for rule in FindingRule.allCases {
            let isListed = page.contains("| `\(rule.id)` | `\(rule.name)` | \(rule.severity)")
            #expect(isListed, "\(rule.id) \(rule.name) \(rule.severity)")
        }
        #expect(page.matches(of: /\| `PINTLE\d{4}`/).count == FindingRule.allCases.count)
        for kind in AuditChange.Kind.allCases { #expect(page.contains("`\(kind.rawValue)`")) }
    }
}
