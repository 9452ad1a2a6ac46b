// SPDX-License-Identifier: Apache-2.0

/// A page of the reference as a value, which ``ReferenceFormat`` writes.
///
/// Texts are plain, but for names of code between backticks.
struct ReferencePage: Sendable, Equatable {
    /// A short property of an entry, such as its default.
    struct Fact: Sendable, Equatable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        /// True for advice, which is long, and reads well only behind the text.
        var isAdvice: Bool { self.name == Self.advice }

        /// The name of facts that are advice.
        static let advice = "what to do"
    }

    /// An entry: a name of Pintle's, and its explanation.
    struct Entry: Sendable, Equatable {
        let term: String
        /// The properties; those without a value are left out.
        let facts: [Fact]
        let text: String

        init(_ term: String, _ facts: [(String, String?)] = [], _ text: String) {
            (self.term, self.text) = (term, text)
            self.facts = facts.compactMap { name, value in value.map { Fact(name, $0) } }
        }
    }

    /// The form of a section's entries in Markdown.
    enum Layout: Sendable, Equatable {
        /// A row of a table for each entry.
        case table
        /// A heading for each entry, which links can name.
        case headings
    }

    /// Entries of one kind.
    struct Section: Sendable, Equatable {
        /// The heading; nil in pages of one section.
        var title: String?
        var text = ""
        /// The kind of the entries, as the head of a table: `key`, `field`.
        let kind: String
        /// The properties that entries may have, in the order of a table's columns; by default as the entries have them.
        var columns: [String] = []
        var layout = Layout.table
        /// True if the terms are names of pages.
        var hasLinks = false
        let entries: [Entry]
    }

    let topic: HelpTopic
    /// Paragraphs.
    let introduction: [String]
    let sections: [Section]
    /// Pages of docs/ that say more.
    var more: [String] = []

    /// The terms of all sections.
    var terms: [String] { self.sections.flatMap { $0.entries.map(\.term) } }
}

/// The pages of the reference. Each is made of the types that it is about, so that a new case needs a text to compile.
enum ReferencePages {}
