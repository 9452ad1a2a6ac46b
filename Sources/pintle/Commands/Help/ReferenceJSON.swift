// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// A page as a JSON document, for programs: the manual pages are made of it.
struct ReferenceJSON {
    private let page: ReferencePage

    init(_ page: ReferencePage) { self.page = page }

    /// The document, without a line end.
    var text: String {
        let document = Parameter.object([
            ("topic", .string(self.page.topic.rawValue)), ("title", .string(self.page.topic.title)),
            ("introduction", .strings(self.page.introduction)),
            ("sections", .array(self.page.sections.map(Self.section))), ("more", .strings(self.page.more)),
        ])
        return String(document.jsonText.dropLast())
    }

    private static func section(_ section: ReferencePage.Section) -> Parameter {
        .object([
            ("title", section.title.map { .string($0) }), ("text", .string(section.text)),
            ("kind", .string(section.kind)), ("entries", .array(section.entries.map(Self.entry))),
        ])
    }

    private static func entry(_ entry: ReferencePage.Entry) -> Parameter {
        .object([
            ("term", .string(entry.term)),
            ("facts", .object(entry.facts.map { ($0.name, .string($0.value)) })), ("text", .string(entry.text)),
        ])
    }
}
