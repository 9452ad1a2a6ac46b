// SPDX-License-Identifier: Apache-2.0

/// A YAML document as written, each value with its place: for files in other formats than Pintle's configuration.
///
/// A scalar is text, whatever it looks like. JSON is YAML, too.
package indirect enum LocatedValue: Sendable, Equatable {
    /// A key, its place, and its value.
    package struct Entry: Sendable, Equatable {
        package let key: String
        package let position: SourcePosition
        package let value: LocatedValue
    }

    case text(String, SourcePosition)
    case list([LocatedValue], SourcePosition)
    case map([Entry], SourcePosition)

    /// Reads a document, within the limits of a configuration file.
    ///
    /// - Throws: the faults of the document; repeated keys are among them.
    package static func read(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> LocatedValue {
        let context = LoadingContext(file: file, surroundings: .system(environment: [:]))
        guard let root = YAMLDocument.compose(bytes, context, ignoringTags: true) else {
            throw ConfigurationError(context.problems)
        }
        let value = Self.value(root)
        try context.throwProblems()
        return value
    }

    /// The place of the value's first character.
    package var position: SourcePosition {
        switch self {
        case .text(_, let position), .list(_, let position), .map(_, let position): position
        }
    }

    /// The text of a scalar; nil for a list or a map.
    package var text: String? {
        if case .text(let text, _) = self { text } else { nil }
    }

    private static func value(_ node: StrictNode) -> LocatedValue {
        switch node.node.content {
        case .scalar(let scalar): return .text(scalar.string, node.position)
        case .sequence: return .list((node.list() ?? []).map(Self.value), node.position)
        case .mapping:
            let entries = (node.entries(takingMergeKeys: true) ?? []).map {
                Entry(key: $0.key, position: $0.position, value: Self.value($0.value))
            }
            return .map(entries, node.position)
        }
    }
}
