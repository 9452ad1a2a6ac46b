// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// docs/afnetworking.md has every behaviour, the tests that it names are there, and those that are there are named.
struct BehaviourPageTests {
    /// The number of behaviours in each family; they are numbered from 1.
    private static let families = [
        "SES": 54, "TDL": 23, "HSM": 26, "PCT": 8, "QRY": 16, "SER-REQ": 30, "JRQ": 10, "PRQ": 5, "MPF": 20, "MPS": 12,
        "THR": 6, "STF": 4, "ERR": 4, "RSP": 19, "JRS": 22, "XMP": 5, "XMD": 3, "PLR": 5, "IMG": 8, "CMP": 9, "SEC": 32,
        "RCH": 17, "ACT": 14, "IDL": 26, "CCH": 20, "UIA": 4, "UIR": 4, "UIP": 5, "UII": 12, "UIB": 5, "UIW": 8,
        "OPS": 32, "BAT": 5, "HOP": 10, "HOM": 6, "UI2": 6, "VER": 5,
    ]

    private static let ids = Set(
        Self.families.flatMap { name, count in (1...count).map { String(format: "\(name)-%02d", $0) } })

    /// The rows whose first cell is an id.
    private static func rows() throws -> [(id: String, proof: String)] {
        try NamedTests.page("afnetworking.md").compactMap { line in
            line.wholeMatch(of: /\| ([A-Z0-9-]+-\d+) \| (.+) \|/).map { (String($0.1), String($0.2)) }
        }
    }

    @Test func `LOOK-57 every behaviour of AFNetworking has one row`() throws {
        let found = try Self.rows().map(\.id)
        #expect(Self.ids.count == 500)
        #expect(Self.ids.subtracting(found).sorted() == [], "no row")
        #expect(Set(found).subtracting(Self.ids).sorted() == [], "no such behaviour")
        #expect(found.count == Set(found).count, "two rows")
    }

    @Test func `LOOK-57 every row has tests that are there, or a reason`() throws {
        let all = try NamedTests.all.get()
        for row in try Self.rows() { #expect(NamedTests.fault(in: row.proof, among: all) == nil, "\(row.id)") }
    }

    @Test func `LOOK-57 a test that begins with the id of a behaviour is in its row`() throws {
        let all = try NamedTests.all.get()
        let rows = Dictionary(
            try Self.rows().map { row in
                (row.id, Set(NamedTests.proofs(in: row.proof, among: all).compactMap(\.test)))
            }, uniquingKeysWith: { one, _ in one })
        for (test, ids) in all.values.joined() {
            for id in Self.ids.intersection(ids) {
                #expect(rows[id]?.contains(test) == true, "\(id) has no “\(test.suite): \(test.sentence)”")
            }
        }
    }
}
