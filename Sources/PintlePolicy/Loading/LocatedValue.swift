// SPDX-License-Identifier: Apache-2.0

internal import Yams

/// A YAML document as it stands, each value with its place: for files that are not Pintle's own.
///
/// Scalars are texts whatever they look like. JSON is YAML too.
package indirect enum LocatedValue: Sendable, Equatable {
    /// A key, where it stands, and its value.
    package struct Entry: Sendable, Equatable {
        package let key: String
        package let position: SourcePosition
        package let value: LocatedValue
    }

    case text(String, SourcePosition)
    case list([LocatedValue], SourcePosition)
    case map([Entry], SourcePosition)

    /// Reads a document, within the bounds of a configuration file.
    ///
    /// - Throws: what is wrong with it; keys that repeat among it.
    package static func read(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> LocatedValue {
        let context = LoadingContext(file: file, surroundings: .system(environment: [:]))
        guard let root = YAMLDocument.compose(bytes, context) else { throw ConfigurationError(context.problems) }
        let value = Self.value(root)
        try context.throwProblems()
        return value
    }

    /// Where the value begins.
    package var position: SourcePosition {
        switch self {
        case .text(_, let position), .list(_, let position), .map(_, let position): position
        }
    }

    /// The text of a scalar.
    package var text: String? {
        if case .text(let text, _) = self { text } else { nil }
    }

    private static func value(_ node: StrictNode) -> LocatedValue {
        switch node.node {
        case .scalar(let scalar): return .text(scalar.string, node.position)
        case .sequence: return .list((node.list() ?? []).map(Self.value), node.position)
        case .mapping:
            let entries = (node.entries() ?? []).map {
                Entry(key: $0.key, position: $0.position, value: Self.value($0.value))
            }
            return .map(entries, node.position)
        case .alias: return .text("", node.position)
        }
    }
}
