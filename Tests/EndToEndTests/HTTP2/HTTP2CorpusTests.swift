// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The outcome of each input of an HTTP/2 client: the table of docs/http2.md, case by case, in bytes.
struct HTTP2CorpusTests {
    private static let groups: [HTTP2Case.Group] =
        HTTP2Case.connectionGroups + HTTP2Case.streamGroups + HTTP2Case.compressionGroups + HTTP2Case.fieldGroups
        + HTTP2Case.requestGroups + HTTP2Case.frameGroups

    @Test(arguments: Self.groups)
    func `each input has its outcome`(group: HTTP2Case.Group) throws {
        let stage = try HTTP2Stage()
        for one in group.cases {
            let outcome = try stage.outcome(of: one)
            #expect(outcome == HTTP2Stage.expectation(of: one), "\(group): \(one.name)")
        }
        #expect(stage.heldUp.isEmpty, "\(stage.heldUp)")
    }

    @Test func `the corpus has no two cases of one name, and the page a row for each group`() throws {
        #expect(Self.groups.reduce(0) { $0 + $1.cases.count } >= 150)
        for group in Self.groups { #expect(Set(group.cases.map(\.name)).count == group.cases.count, "\(group)") }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let page = try String(contentsOf: root.appendingPathComponent("docs/http2.md").standardized, encoding: .utf8)
        let rows = page.components(separatedBy: "\n## Each input and its outcome\n").last?
            .components(separatedBy: "\n## ").first?
            .split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
            .map { $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces) }
        #expect(rows == Self.groups.map(\.name))
    }
}
