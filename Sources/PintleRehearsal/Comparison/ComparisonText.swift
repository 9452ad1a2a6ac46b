// SPDX-License-Identifier: Apache-2.0

internal import PintleWatch

/// A comparison in words, for people.
package enum ComparisonText {
    /// The most differences that are listed.
    package static let mostListed = 50

    /// The lines about two configurations.
    package static func lines(_ comparison: TableComparison) -> [String] {
        guard comparison.differences.isEmpty else {
            let tail = comparison.isExhaustive ? "" : "; there are more combinations of conditions than were tried"
            let count = comparison.differences.count
            return Self.list(comparison.differences)
                + ["\(count) \(count == 1 ? "difference" : "differences")\(tail)"]
        }
        if comparison.isExhaustive { return ["same in meaning"] }
        return [
            "no difference among \(comparison.requests) requests, but there are more combinations of conditions than were tried; "
                + "--traffic tells about recorded requests"
        ]
    }

    /// The lines about recorded traffic.
    package static func lines(_ comparison: TrafficComparison) -> [String] {
        let unknown = comparison.counts[.unknown] ?? 0
        var parts = ["\(comparison.otherwise) of \(comparison.exchanges) exchanges would be decided otherwise"]
        let kinds = PlanComparison.Kind.allCases.compactMap { kind in
            comparison.counts[kind].flatMap { kind == .unknown ? nil : "\(kind.rawValue) \($0)" }
        }
        if !kinds.isEmpty { parts[0] += ": " + kinds.joined(separator: ", ") }
        if unknown > 0 {
            parts.append(
                "\(unknown) cannot be told: a rule depends on a part that is not recorded, such as a field or an address"
            )
        }
        return Self.list(comparison.differences) + parts
    }

    private static func list(_ differences: [PolicyDifference]) -> [String] {
        let width = differences.map(\.kind.name.count).max() ?? 0
        var lines: [String] = []
        for difference in differences.prefix(Self.mostListed) {
            let name = difference.kind.name
            let indent = String(repeating: " ", count: width + 2)
            let more = difference.count > 1 ? "  (\(difference.count) in all)" : ""
            let line = difference.line.map { "  line \($0)" } ?? ""
            lines.append(
                name + String(repeating: " ", count: width - name.count + 2) + difference.witness
                    + difference.fields.map { "  \($0)" }.joined() + line + more)
            lines.append("\(indent)before  \(Self.words(difference.before))")
            // The names are the same: what they stand for is not.
            let isNamesake =
                difference.before.decision == difference.after.decision && difference.kind != .plan(.unknown)
            lines.append("\(indent)after   \(Self.words(difference.after))\(isNamesake ? "  (changed)" : "")")
        }
        let rest = differences.count - Self.mostListed
        if rest > 0 { lines.append("and \(rest) more; --format json has all of them") }
        return lines
    }

    private static func words(_ side: PolicyDifference.Side) -> String {
        var words = side.decision
        if let rule = side.rule, rule != side.decision { words += "  by \(rule)" }
        if let place = side.place { words += "  \(place)" }
        return words
    }
}
