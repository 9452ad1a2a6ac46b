// SPDX-License-Identifier: Apache-2.0

/// A page as text: names at the margin, and what is said of them below, indented.
struct ReferenceText {
    private let page: ReferencePage
    private let isEmphasized: Bool

    /// - Parameter isEmphasized: true to print headings and names in bold, for terminals.
    init(_ page: ReferencePage, isEmphasized: Bool = false) {
        (self.page, self.isEmphasized) = (page, isEmphasized)
    }

    var text: String {
        var blocks = [self.strong(self.page.topic.title.uppercased())] + self.page.introduction.map(Self.plain)
        for section in self.page.sections {
            if let title = section.title { blocks.append(self.strong(Self.plain(title).uppercased())) }
            if !section.text.isEmpty { blocks.append(Self.plain(section.text)) }
            blocks += section.entries.map { self.entry($0, section.layout) }
        }
        if !self.page.more.isEmpty {
            blocks.append("More: \(self.page.more.map { "docs/\($0)" }.joined(separator: ", "))")
        }
        return blocks.joined(separator: "\n\n")
    }

    private func entry(_ entry: ReferencePage.Entry, _ layout: ReferencePage.Layout) -> String {
        let told = { (facts: [ReferencePage.Fact]) in facts.map { "\($0.name): \(Self.plain($0.value))" } }
        let text = Self.plain(entry.text)
        let lines =
            switch layout {
            case .table:
                ([told(entry.facts.filter { !$0.isAdvice }).joined(separator: "; "), text]
                    + told(entry.facts.filter(\.isAdvice))).filter { !$0.isEmpty }
            case .headings: [text] + told(entry.facts)
            }
        return ([self.strong(entry.term)] + lines.map { "    \($0)" }).joined(separator: "\n")
    }

    private func strong(_ text: String) -> String { self.isEmphasized ? "\u{1B}[1m\(text)\u{1B}[m" : text }

    private static func plain(_ text: String) -> String { text.replacing("`", with: "") }
}
