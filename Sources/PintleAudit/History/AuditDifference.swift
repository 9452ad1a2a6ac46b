// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization
internal import PintleTrust

/// Two audits of the history, and the changes from the older to the newer one.
package struct AuditDifference: Sendable {
    package let changes: [AuditChange]
    private let old: AuditHistory.Entry
    private let new: AuditHistory.Entry

    package init(
        from old: AuditHistory.Entry, to new: AuditHistory.Entry, in history: AuditHistory
    ) throws(HistoryError) {
        (self.old, self.new) = (old, new)
        self.changes = AuditChange.changes(
            from: try history.observations(of: old), try history.facts(of: old),
            to: try history.observations(of: new), try history.facts(of: new))
    }

    /// The changes as a JSON document, which docs/audit.md describes.
    ///
    /// - Parameter difference: nil if there was nothing to compare; the document then has no changes, and `from` is null.
    package static func document(of difference: AuditDifference?) -> String {
        Parameter.object([
            ("schema", .integer(JSONReport.schema)),
            ("configuration", .optional(difference?.new.configuration)),
            ("scope", .optional(difference?.new.scope)),
            ("from", .optional(difference?.old.startedAt.description)),
            ("to", .optional(difference?.new.startedAt.description)),
            ("changes", .array((difference?.changes ?? []).map(Self.document))),
        ]).jsonText
    }

    private static func document(of change: AuditChange) -> Parameter {
        .object([
            ("change", .string(change.kind.rawValue)), ("policy", .string(change.policy)),
            ("host", .string(change.host)), ("keys", .optional(change.keys)), ("details", .string(change.details)),
        ])
    }
}
