// SPDX-License-Identifier: Apache-2.0

/// A page as Markdown, for docs/reference.
struct ReferenceMarkdown {
    private let page: ReferencePage

    init(_ page: ReferencePage) { self.page = page }

    var text: String {
        var blocks = ["# \(self.page.topic.title)"] + self.page.introduction.map { Self.prose($0) }
        for section in self.page.sections {
            if let title = section.title { blocks.append("## \(Self.prose(title))") }
            if !section.text.isEmpty { blocks.append(Self.prose(section.text)) }
            switch section.layout {
            case .table: blocks.append(Self.table(section))
            case .headings: blocks += section.entries.map(Self.heading)
            }
        }
        if !self.page.more.isEmpty {
            blocks.append("More: \(self.page.more.map { "[\($0)](../\($0))" }.joined(separator: ", ")).")
        }
        blocks.append("<!-- Written by scripts/reference: change the texts of the program. -->")
        return blocks.joined(separator: "\n\n")
    }

    private static func table(_ section: ReferencePage.Section) -> String {
        let used = section.entries.flatMap { $0.facts.map(\.name) }
        let columns = (section.columns + used).reduce(into: [String]()) { columns, name in
            if used.contains(name), !columns.contains(name) { columns.append(name) }
        }
        let (short, long) = (
            columns.filter { $0 != ReferencePage.Fact.advice }, columns.filter { $0 == ReferencePage.Fact.advice }
        )
        let head = [section.kind] + short + ["meaning"] + long
        let rows = section.entries.map { entry in
            let facts = { (columns: [String]) in
                columns.map { name in entry.facts.first { $0.name == name }.map { Self.cell($0.value) } ?? "" }
            }
            let term = Self.code(entry.term)
            return [section.hasLinks ? "[\(term)](\(entry.term).md)" : term] + facts(short) + [Self.cell(entry.text)]
                + facts(long)
        }
        let lines = [head, head.map { _ in "---" }] + rows
        return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }

    private static func heading(_ entry: ReferencePage.Entry) -> String {
        let facts = entry.facts.map { "- \($0.name): \(Self.prose($0.value))" }.joined(separator: "\n")
        return ["### \(Self.code(entry.term))", Self.prose(entry.text), facts].filter { !$0.isEmpty }
            .joined(separator: "\n\n")
    }

    private static func code(_ text: String) -> String { "`\(text.replacing("|", with: "\\|"))`" }

    /// A line of text, in which the characters of Markdown mean nothing outside of code.
    private static func prose(_ text: String) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { place, part in
            place.isMultiple(of: 2) ? part.map { "\\*_<[".contains($0) ? "\\\($0)" : "\($0)" }.joined() : String(part)
        }.joined(separator: "`")
    }

    /// A bar would end a cell, in code too.
    private static func cell(_ text: String) -> String { Self.prose(text).replacing("|", with: "\\|") }
}
