// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// A text of a value, the same in every process and for all equal values; for keys of responses that are kept on disk.
///
/// The text that Swift makes of a value has its sets and dictionaries in an order that changes with each start. Places in files are
/// left out: a rule that moves to another line is the same rule.
struct StableText: CustomStringConvertible {
    let description: String

    init(_ value: Any) { self.description = Self.text(value) }

    private static func text(_ value: Any) -> String {
        if value is SourcePosition || value is AccessPlaces { return "" }
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { child in
            let text = Self.text(child.value)
            return child.label.map { "\($0): \(text)" } ?? text
        }
        switch mirror.displayStyle {
        case .set, .dictionary: return "{\(parts.sorted().joined(separator: ", "))}"
        case .collection: return "[\(parts.joined(separator: ", "))]"
        // Strings, numbers, and cases without values.
        case _ where parts.isEmpty: return String(reflecting: value)
        default: return "\(type(of: value))(\(parts.joined(separator: ", ")))"
        }
    }
}
