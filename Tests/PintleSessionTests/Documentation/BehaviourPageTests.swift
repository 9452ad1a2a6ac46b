// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// docs/afnetworking.md has every behaviour, and the tests that it names are there.
struct BehaviourPageTests {
    /// How many behaviours each family has; they are numbered from 1.
    private static let families = [
        "SES": 54, "TDL": 23, "HSM": 26, "PCT": 8, "QRY": 16, "SER-REQ": 30, "JRQ": 10, "PRQ": 5, "MPF": 20, "MPS": 12,
        "THR": 6, "STF": 4, "ERR": 4, "RSP": 19, "JRS": 22, "XMP": 5, "XMD": 3, "PLR": 5, "IMG": 8, "CMP": 9, "SEC": 32,
        "RCH": 17, "ACT": 14, "IDL": 26, "CCH": 20, "UIA": 4, "UIR": 4, "UIP": 5, "UII": 12, "UIB": 5, "UIW": 8,
        "OPS": 32, "BAT": 5, "HOP": 10, "HOM": 6, "UI2": 6, "VER": 5,
    ]

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The rows whose first cell is an id, or a range of ids.
    private static func rows() throws -> [(ids: [String], proof: String)] {
        let page = try String(contentsOf: Self.root.appendingPathComponent("docs/afnetworking.md"), encoding: .utf8)
        return page.split(separator: "\n").compactMap { line in
            guard let row = line.wholeMatch(of: /\| ([A-Z0-9-]+)-(\d+)(?: to [A-Z0-9-]+-(\d+))? \| (.+) \|/),
                let first = Int(row.2), let last = row.3 == nil ? first : row.3.flatMap({ Int($0) })
            else { return nil }
            return ((first...last).map { "\(row.1)-\($0)" }, String(row.4))
        }
    }

    @Test func `LOOK-57 every behaviour of AFNetworking has one row`() throws {
        let found = try Self.rows().flatMap(\.ids)
        let all = Self.families.flatMap { name, count in (1...count).map { "\(name)-\($0)" } }
        #expect(all.count == 500)
        #expect(Set(all).subtracting(found).sorted() == [], "no row")
        #expect(Set(found).subtracting(all).sorted() == [], "no such behaviour")
        #expect(found.count == Set(found).count, "two rows")
    }

    @Test func `LOOK-57 every test that the page names is there`() throws {
        let names = try Self.testNames()
        for row in try Self.rows() {
            var suite: String?
            for part in row.proof.components(separatedBy: "; ") {
                var name = part
                if let named = part.firstMatch(of: /(?:^|\s)(\w+Tests): (.+)/) {
                    suite = String(named.1)
                    name = String(named.2)
                } else if part.wholeMatch(of: /[A-Z0-9]+(-[A-Z]+)?-\d+ .*/) != nil || part.hasPrefix("—") {
                    suite = nil
                }
                guard let suite, !name.hasPrefix("as ") else { continue }
                let known = names[suite] ?? []
                #expect(
                    known.contains { Self.isSame($0, name) }, "\(row.ids): \(suite) has no test “\(name)”")
            }
        }
    }

    /// Whether `text` is the name of a test without the ids in front of it, and may go on with a remark.
    private static func isSame(_ test: String, _ text: String) -> Bool {
        let plain = test.replacing(/^(?:(?:[A-Z0-9]+-)+\d+ (?:and )?)+/, with: "")
        guard text.hasPrefix(plain) else { return false }
        let rest = text.dropFirst(plain.count)
        return rest.isEmpty || rest.hasPrefix(" (") || rest.hasPrefix(". ")
    }

    /// The names of all tests by their suite.
    private static func testNames() throws -> [String: [String]] {
        let tests = Self.root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        var names: [String: [String]] = [:]
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            var suite = ""
            for line in text.split(separator: "\n") {
                if let found = line.firstMatch(of: /(?:struct|class|extension) (\w+Tests)\b/) {
                    suite = String(found.1)
                }
                if let found = line.firstMatch(of: /func `(.+?)`/) { names[suite, default: []].append(String(found.1)) }
            }
        }
        return names
    }
}
