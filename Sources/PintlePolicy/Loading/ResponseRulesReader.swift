// SPDX-License-Identifier: Apache-2.0

/// Reads `routes[].response`.
enum ResponseRulesReader {
    static func read(_ map: StrictMap) -> ResponseRules {
        var rules = ResponseRules()
        map.read("status", into: &rules.status) { node in
            node.values { $0.parsed { text throws(Malformed) in try Spelling.statuses(text) } }
        }
        map.read("content_types", into: &rules.contentTypes) { node in
            node.values { $0.parsed { text throws(Malformed) in try Spelling.mediaType(text) } }.map { .some($0) }
        }
        map.read("body", into: &rules.body) { $0.choice() }
        map.read("remove_nulls", into: &rules.removeNulls) { $0.bool() }
        if let node = map["remove_nulls"], rules.removeNulls, rules.body != .json {
            node.report("needs body: json; nothing else has nulls to remove")
        }
        map.read("on_violation", into: &rules.onViolation) { $0.choice() }
        return rules
    }
}
