// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

// Findings about lists of hosts.
extension Lint {
    /// Notes the size and the source of each list.
    var listNotes: [LintFinding] {
        self.configuration.lists.map { list in
            let source: String
            switch list.source {
            case .file(let path): source = path
            case .remote(let remote):
                source = Redaction.on.url("\(remote.url)") + (remote.confirmed.map { ", as of \($0)" } ?? "")
            }
            let count = list.hosts.count == 1 ? "1 entry" : "\(list.hosts.count) entries"
            return LintFinding(
                severity: .note, position: list.position, path: "lists.\(list.name)",
                message: "\(count), from \(source)")
        }
    }

    /// Warns of lists that no rule names.
    var unusedLists: [LintFinding] {
        let used = Set(self.configuration.destinations.lists)
        return self.configuration.lists.filter { !used.contains($0.name) }.map { list in
            self.warning(
                list.position, "lists.\(list.name)",
                "is never used: no rule of destinations.allow and destinations.deny names it, as {list: \(list.name)} does"
            )
        }
    }

    /// True if a rule is about a network, or about a list with one.
    func hasNetworks(_ rule: DestinationEntry) -> Bool {
        switch rule.subject {
        case .pattern(let pattern): pattern.network != nil
        case .list(let name): self.configuration.lists.first { $0.name == name }?.hosts.hasNetworks ?? false
        }
    }

    /// The first rule that matches all hosts that a pattern matches, as decisions name it; nil if there is none.
    func rule(covering pattern: HostPattern, in rules: [DestinationEntry]) -> String? {
        for rule in rules {
            switch rule.subject {
            case .pattern(let earlier): if earlier.covers(pattern) { return rule.quoted }
            case .list(let name):
                guard let hosts = self.configuration.lists.first(where: { $0.name == name })?.hosts,
                    let entry = hosts.first(covering: pattern)
                else { continue }
                return "\(rule.quoted) with \"\(hosts.text(of: entry))\" in line \(hosts.line(of: entry))"
            }
        }
        return nil
    }
}
