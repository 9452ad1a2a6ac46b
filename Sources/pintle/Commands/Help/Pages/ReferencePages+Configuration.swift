// SPDX-License-Identifier: Apache-2.0

extension ReferencePages {
    static var configuration: ReferencePage { Self.configuration(ConfigurationSchema.embedded.keys) }

    static func configuration(_ keys: [ConfigurationSchema.Key]) -> ReferencePage {
        let groups = keys.reduce(into: [(name: String, keys: [ConfigurationSchema.Key])]()) { groups, key in
            let name = String(key.path.prefix { $0 != "." && $0 != "[" })
            if groups.last?.name == name {
                groups[groups.count - 1].keys.append(key)
            } else {
                groups.append((name, [key]))
            }
        }
        // Keys without further ones stand in front; each of the others has a section of its own.
        let single = groups.filter { $0.keys.count == 1 }.flatMap(\.keys)
        let several = groups.filter { $0.keys.count > 1 }
        return ReferencePage(
            topic: .configuration,
            introduction: [
                "A dot leads to a key of a map, `[]` to the entries of a list, and NAME is a name of your own. A list of one "
                    + "entry may be written as the entry alone.",
                "Durations have a unit: `250ms`, `10s`, `5m`, `1h`, `2d`. Sizes are bytes, or have one: `64KiB`, `8MiB`, "
                    + "`1GiB`. `on` and `off` may also be `true`, `false`, `yes` and `no`. Any text may be `env:NAME` or "
                    + "`file:PATH`, which stand for the value of a variable and the text of a file. Relative paths are "
                    + "relative to the file. Host patterns are names, `*.suffix`, `*` and networks, each with an optional "
                    + "`:port`.",
                "Unknown keys, wrong types and contradictions are errors, with file, line and column. `pintle check` reads a "
                    + "file as `pintle serve` does.",
            ],
            sections: [Self.keys("Top level", single)] + several.map { Self.keys("`\($0.name)`", $0.keys) },
            more: ["configuration.md"])
    }

    private static func keys(_ title: String, _ keys: [ConfigurationSchema.Key]) -> ReferencePage.Section {
        .init(
            title: title, kind: "key", columns: ["type", "range", "default", "since"],
            entries: keys.map { key in
                let forms = key.forms.isEmpty ? "any value" : key.forms.joined(separator: ", ")
                return .init(
                    key.path,
                    [("type", forms), ("range", key.range), ("default", key.standard), ("since", key.since)], key.text)
            })
    }
}
