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

    /// The place of the first permission for a network, or for a list with one.
    var firstPermissionWithNetworks: Int? {
        let lists = self.configuration.hostLists
        return self.configuration.destinations.allow.firstIndex { rule in
            switch rule.subject {
            case .pattern(let pattern): pattern.network != nil
            case .list(let name): lists[name]?.hasNetworks ?? false
            }
        }
    }
}
