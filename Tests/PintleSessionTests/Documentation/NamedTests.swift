// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The tests that a page names, and those that there are.
enum NamedTests {
    /// The name of a test in a page or in a source file, without the ids before it.
    struct Name: Hashable {
        let suite: String
        let sentence: String
    }

    /// Tests by their suite, each with the ids that its name begins with.
    typealias Catalogue = [String: [(name: Name, ids: [String])]]

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func page(_ name: String) throws -> [String] {
        let page = try String(contentsOf: Self.root.appendingPathComponent("docs/\(name)"), encoding: .utf8)
        return page.split(separator: "\n").map(String.init)
    }

    // MARK: Existing tests

    /// All tests of the repository, read once.
    static let all = Result { try Self.read() }

    private static func read() throws -> Catalogue {
        let tests = Self.root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        var catalogue: Catalogue = [:]
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            var suite = ""
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                // Few lines are worth a regular expression, which takes its time.
                if line.utf8.contains(UInt8(ascii: "`")) {
                    guard let found = line.firstMatch(of: /func `(.+?)`/) else { continue }
                    let (ids, sentence) = Self.parts(of: found.1)
                    catalogue[suite, default: []].append((Name(suite: suite, sentence: sentence), ids))
                } else if !line.hasPrefix(" "), !line.hasPrefix("/") {
                    guard let found = line.firstMatch(of: /(?:struct|class|extension) (\w+Tests)\b/) else { continue }
                    suite = String(found.1)
                }
            }
        }
        return catalogue
    }

    /// The ids at the beginning of a test's name, and the sentence after them.
    private static func parts(of name: Substring) -> (ids: [String], sentence: String) {
        let words = name.split(separator: " ")
        let ids = words.prefix { $0 == "and" || Self.isID($0) }
        return (ids.filter { $0 != "and" }.map(String.init), words.dropFirst(ids.count).joined(separator: " "))
    }

    private static func isID(_ word: Substring) -> Bool {
        guard let dash = word.lastIndex(of: "-"), word[dash...].count > 1 else { return false }
        return word[..<dash].allSatisfy { $0.isUppercase || $0.isNumber || $0 == "-" }
            && word[dash...].dropFirst().allSatisfy(\.isNumber)
    }

    // MARK: Named tests

    /// Parses a cell of a table: `SuiteTests: one name; another one; OtherTests: a name (and a remark)`. Text after a dash
    /// is a reason, which may name tests, too.
    ///
    /// - Returns: for each place at which a test must be named, its text and the test; nil if no such test exists.
    static func proofs(in cell: String, among all: Catalogue) -> [(text: String, test: Name?)] {
        var proofs: [(String, Name?)] = []
        var suite: String?
        for part in cell.components(separatedBy: "; ") {
            var text = part
            if let named = part.firstMatch(of: /(?:^|\s)(\w+Tests): (.+)/) {
                suite = String(named.1)
                text = String(named.2)
            } else if part.hasPrefix("—") {
                suite = nil
            }
            guard let suite else { continue }
            let test = all[suite]?.first { Self.isSame($0.name.sentence, text) }
            proofs.append(("\(suite): \(text)", test?.name))
        }
        return proofs
    }

    /// True if `text` is the name of a test, perhaps followed by a remark.
    private static func isSame(_ sentence: String, _ text: String) -> Bool {
        guard text.hasPrefix(sentence) else { return false }
        let rest = text.dropFirst(sentence.count)
        return rest.isEmpty || rest.hasPrefix(" (") || rest.hasPrefix(". ")
    }

    /// Finds fault with a cell that has neither a test nor a reason, or names a test that there is not.
    static func fault(in cell: String, among all: Catalogue) -> String? {
        let proofs = Self.proofs(in: cell, among: all)
        if let missing = proofs.first(where: { $0.test == nil }) { return "no test “\(missing.text)”" }
        return proofs.isEmpty && !cell.hasPrefix("— ") ? "neither a test nor a reason: “\(cell)”" : nil
    }
}
