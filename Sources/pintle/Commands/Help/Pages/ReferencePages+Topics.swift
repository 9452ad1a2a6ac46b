// SPDX-License-Identifier: Apache-2.0

extension ReferencePages {
    static var topics: ReferencePage {
        ReferencePage(
            topic: .topics,
            introduction: [
                "`pintle help TOPIC` prints each of these pages; with `--format markdown` or `json` for other readers. "
                    + "They are made of the program's own tables, and so are those of this version."
            ],
            sections: [
                .init(
                    kind: "topic", hasLinks: true,
                    entries: HelpTopic.subjects.map { topic in
                        .init(
                            topic.rawValue, [], "\(topic.abstract.prefix(1).uppercased())\(topic.abstract.dropFirst())."
                        )
                    })
            ])
    }
}
