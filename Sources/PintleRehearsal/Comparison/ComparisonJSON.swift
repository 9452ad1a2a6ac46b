// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintleSerialization
internal import PintleWatch

/// A comparison as JSON, for programs.
package enum ComparisonJSON {
    /// `{"same", "exhaustive", "requests", "differences"}`.
    package static func document(_ comparison: TableComparison) -> Parameter {
        .object([
            ("same", .bool(comparison.isSame)), ("exhaustive", .bool(comparison.isExhaustive)),
            ("requests", .integer(Int64(comparison.requests))),
            ("differences", .array(comparison.differences.map(Self.difference))),
        ])
    }

    /// The members behind the rows of the exchanges: counts, and the differences.
    package static func summary(_ comparison: TrafficComparison, _ read: TrafficReader.Summary) -> Parameter {
        // Responses are not judged, since few archives have them as they came.
        let judging: Set<PlanComparison.Kind> = [.rejected, .accepted]
        let kinds = PlanComparison.Kind.allCases.filter { !judging.contains($0) }.map { kind in
            (PolicyDifference.Kind.plan(kind).name, Parameter.integer(Int64(comparison.counts[kind] ?? 0)))
        }
        return .object([
            ("exchanges", .integer(Int64(comparison.exchanges))), ("same", .integer(Int64(comparison.same))),
            ("otherwise", .integer(Int64(comparison.otherwise))), ("kinds", .object(kinds)),
            ("malformed", .integer(Int64(read.faults))),
            ("first_malformed", read.firstFault.map { .string($0.description) }),
            ("differences", .array(comparison.differences.map(Self.difference))),
        ])
    }

    /// An exchange that would be decided otherwise.
    package static func row(_ row: TrafficComparison.Row) -> Parameter {
        .object([
            ("line", .integer(Int64(row.exchange.line))), ("id", row.exchange.id.map { .string($0) }),
            ("time", row.exchange.time.map { .string($0) }), ("method", .string(row.exchange.head.method)),
            ("url", .string(row.exchange.url)),
            ("kinds", .strings(row.kinds.map { PolicyDifference.Kind.plan($0).name })),
        ])
    }

    private static func difference(_ difference: PolicyDifference) -> Parameter {
        .object([
            ("kind", .string(difference.kind.name)), ("count", .integer(Int64(difference.count))),
            ("request", .string(difference.witness)),
            ("fields", difference.fields.isEmpty ? nil : .strings(difference.fields)),
            ("id", difference.id.map { .string($0) }), ("line", difference.line.map { .integer(Int64($0)) }),
            ("before", Self.side(difference.before)), ("after", Self.side(difference.after)),
        ])
    }

    private static func side(_ side: PolicyDifference.Side) -> Parameter {
        .object([
            ("decision", .string(side.decision)), ("rule", side.rule.map { .string($0) }),
            ("place", side.place.map { .string($0) }),
        ])
    }
}
