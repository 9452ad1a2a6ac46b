// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization
internal import PintleSystem

/// The form of values in sentences: short and on one line, whatever they contain.
enum Wording {
    /// The text in quotation marks, control characters escaped, at most 40 characters of it.
    static func quoted(_ text: String) -> String { "“" + Self.line(text, limit: 40) + "”" }

    /// The text on one line, at most `limit` characters of it.
    static func line(_ text: String, limit: Int) -> String {
        var result = ""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            if count == limit { return result + "…" }
            if scalar.isDeceptive {
                result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A scalar as it is; a container by its kind.
    static func value(_ value: Parameter) -> String {
        switch value {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .integer(let whole): String(whole)
        case .number(let number): number.description
        case .decimal(let text): Self.line(text, limit: 40)
        case .string(let text): Self.quoted(text)
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
        case .dictionary(let entries): entries.isEmpty ? "an empty object" : "an object"
        default: "no JSON value"
        }
    }

    /// The kind of a value, without its content.
    static func type(_ value: Parameter) -> String {
        switch value {
        case .bool: "a boolean"
        case .integer, .number, .decimal: "a number"
        case .string: "a string"
        default: Self.value(value)
        }
    }

    /// `a`, `a or b`, `a, b or c`; after eight, only the number of the rest is given.
    static func list(_ words: [String], _ conjunction: String) -> String {
        if words.count > 8 { return words[..<8].joined(separator: ", ") + " \(conjunction) \(words.count - 8) more" }
        guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
        return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
    }

    /// `1 character`, `3 characters`.
    static func count(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) " + (count == 1 ? one : many ?? one + "s")
    }
}
