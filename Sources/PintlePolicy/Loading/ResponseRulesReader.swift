// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Reads `routes[].response`.
enum ResponseRulesReader {
    static func read(_ map: StrictMap) -> ResponseRules {
        var rules = ResponseRules()
        map.read("status", into: &rules.status) { node in
            node.values { $0.parsed { text throws(Malformed) in try Self.parseStatus(text) } }
        }
        map.read("content_types", into: &rules.contentTypes) { node in
            node.values { $0.parsed { text throws(Malformed) in try Self.parseMediaType(text) } }.map { .some($0) }
        }
        map.read("body", into: &rules.body) { $0.choice() }
        map.read("remove_nulls", into: &rules.removeNulls) { $0.bool() }
        if let node = map["remove_nulls"], rules.removeNulls, rules.body != .json {
            node.report("needs body: json; nothing else has nulls to remove")
        }
        map.read("on_violation", into: &rules.onViolation) { $0.choice() }
        return rules
    }

    /// `304`, `200-299` or `2xx`.
    private static func parseStatus(_ text: String) throws(Malformed) -> ClosedRange<UInt16> {
        if text.utf8.count == 3, text.lowercased().hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue,
            (1...5).contains(hundreds)
        {
            return UInt16(hundreds * 100)...UInt16(hundreds * 100 + 99)
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.utf8.count == 3 ? UInt16(part) : nil }
        guard parts.count <= 2, numbers.count == parts.count, let first = numbers.first, let last = numbers.last,
            first >= 100, last <= 599, first <= last
        else { throw Malformed("must be a status or a range from 100 to 599, as in 304, 200-299 or 2xx") }
        return first...last
    }

    /// A media type without parameters, in lower case.
    private static func parseMediaType(_ text: String) throws(Malformed) -> String {
        guard !text.contains(";") else { throw Malformed("a media type without parameters, as in application/json") }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ ASCII.isToken($0.utf8) && !$0.contains("*") }) else {
            throw Malformed("must be one media type, as in application/json; there are no wildcards")
        }
        return text.lowercased()
    }
}
