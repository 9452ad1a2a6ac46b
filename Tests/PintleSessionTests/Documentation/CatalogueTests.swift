// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSession
import PintleTesting
import Testing

/// Checks that the code in the catalogue, the README and the library's page is compiled code.
struct CatalogueTests {
    /// A block of Swift in a text, and the comment above it that names its source.
    private struct Block {
        let place: String
        let origin: String
        let lines: [Substring]
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let catalogue = "Sources/PintleSession/PintleSession.docc"

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    private static func lines(_ path: String) throws -> [Substring] {
        try Self.text(path).split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func articles() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appendingPathComponent(Self.catalogue).path)
        return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(Self.catalogue)/\($0)" }
    }

    private static func blocks(in path: String) throws -> [Block] {
        let lines = try Self.lines(path)
        return lines.indices.filter { lines[$0] == "```swift" }.map { start in
            Block(
                place: "\(path):\(start + 1)", origin: start > 0 ? String(lines[start - 1]) : "",
                lines: Array(lines[(start + 1)...].prefix { $0 != "```" }))
        }
    }

    /// Lines without the indentation that they share.
    private static func flush(_ lines: [Substring]) -> [Substring] {
        let indentation = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { $0.dropFirst(indentation) }
    }

    @Test func `every block of Swift is found word for word in the example that it names`() throws {
        let blocks = try (Self.articles() + ["README.md", "docs/library.md"]).flatMap(Self.blocks)
        #expect(blocks.count > 8)
        for block in blocks where block.origin != "<!-- manifest -->" {
            let name = block.origin.wholeMatch(of: /<!-- (Examples\/[\w\/]+\.swift) -->/)?.output.1
            guard let name else {
                Issue.record("\(block.place): a comment above the block says which example it is taken from")
                continue
            }
            let source = try Self.lines(String(name))
            let isThere = source.indices.contains { start in
                Self.flush(Array(source[start...].prefix(block.lines.count))) == Self.flush(block.lines)
            }
            #expect(isThere, "\(block.place) is not in \(name)")
        }
    }

    @Test func `every line that stands for one of another library is compiled`() throws {
        let compiled = Set(try Self.lines("Examples/Migration.swift").map { $0.drop { $0 == " " } })
        let rows = try Self.lines("\(Self.catalogue)/LineByLine.md").filter {
            $0.hasPrefix("| ") && $0.hasSuffix("` |")
        }
        #expect(rows.count > 60)
        for row in rows {
            let line = row.wholeMatch(of: /.* \| `(.+)` \|/)?.output.1
            #expect(line.map { compiled.contains($0) } == true, "\(row)")
        }
    }

    @Test func `the table of errors has every code`() throws {
        let article = try Self.text("\(Self.catalogue)/GettingStarted.md")
        for code in SessionError.Code.allCases {
            #expect(article.contains("\n| ``SessionError/Code/\(code.rawValue)`` |"))
        }
    }

    @Test func `the product of the library is what the articles tell to depend on`() throws {
        let manifest = try Self.text("Package.swift")
        let article = try Self.text("\(Self.catalogue)/GettingStarted.md")
        #expect(manifest.contains(#"    name: "pintle","#) && manifest.contains(/\.library\(\s*name: "Pintle",/))
        #expect(article.contains(#".product(name: "Pintle", package: "pintle")"#))
    }
}
