// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PintlePolicy

@Suite struct FilterPageTests {
    /// The operators in the first column of the table, without and with an argument.
    private func rows() throws -> (plain: [String], withArgument: [String]) {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/filters.md")
        let rows = try String(contentsOf: page, encoding: .utf8).matches(of: /\| `~([a-z]+)( [A-Z]+)?` \|/)
        return (
            rows.filter { $0.output.2 == nil }.map { String($0.output.1) },
            rows.filter { $0.output.2 != nil }.map { String($0.output.1) }
        )
    }

    @Test func `the page has every operator once, with its argument`() throws {
        let (plain, withArgument) = try self.rows()
        func hasNone(_ name: FilterOperator) -> Bool { if case .none = name.argument { true } else { false } }
        #expect(plain.sorted() == FilterOperator.allCases.filter(hasNone).map(\.rawValue).sorted())
        #expect(withArgument.sorted() == FilterOperator.allCases.filter { !hasNone($0) }.map(\.rawValue).sorted())
    }
}
