// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Reads parameters: values of the types that YAML and JSON have in common.
enum ParameterReader {
    /// Reads a map of parameters, in the order of the file.
    static func readMap(_ node: StrictNode) -> [NamedParameter]? {
        node.entries()?.compactMap { entry in
            Self.readValue(entry.value).map { NamedParameter(name: entry.key, value: $0) }
        }
    }

    private static func readValue(_ node: StrictNode) -> ParameterValue? {
        switch node.node.content {
        case .mapping: return Self.readMap(node).map { .map($0) }
        case .sequence: return (node.list()?.compactMap(Self.readValue)).map { .list($0) }
        case .scalar(let scalar):
            if node.isNull { return .null }
            guard let text = node.string() else { return nil }
            // Quoted text, and text from env: or file:, stays text, whatever it looks like.
            guard scalar.isPlain, text == scalar.string else { return .string(text) }
            return Self.typed(text)
        }
    }

    /// The value of plain text by the rules of JSON: `on`, `yes` and `010` are text, `true`, `10` and `1.5` are not.
    private static func typed(_ text: String) -> ParameterValue {
        if text == "true" { return .bool(true) }
        if text == "false" { return .bool(false) }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard let first = digits.utf8.first, ASCII.isDigit(first),
            digits.utf8.allSatisfy({ ASCII.isDigit($0) || ".eE+-".utf8.contains($0) }),
            !(first == UInt8(ascii: "0") && digits.utf8.dropFirst().first.map(ASCII.isDigit) ?? false)
        else { return .string(text) }
        if let integer = Int(text) { return .integer(integer) }
        // Whole numbers beyond 64 bits stay text: as numbers they would lose digits.
        guard !digits.utf8.allSatisfy(ASCII.isDigit), let double = Double(text), double.isFinite else {
            return .string(text)
        }
        return .double(double)
    }
}
