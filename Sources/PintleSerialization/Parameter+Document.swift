// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Helpers that build JSON documents for people and programs.
extension Parameter {
    /// Returns a dictionary of the members whose value is not nil; `.null` is a value.
    package static func object(_ members: [(String, Parameter?)]) -> Parameter {
        .dictionary(members.compactMap { name, value in value.map { Entry(name, $0) } })
    }

    package static func optional(_ text: String?) -> Parameter { text.map { .string($0) } ?? .null }

    package static func strings(_ texts: [String]) -> Parameter { .array(texts.map { .string($0) }) }

    /// The value as a JSON document with a line end. Invisible characters that control terminals or change the direction of
    /// writing are escaped, which JSON allows.
    package var jsonText: String {
        // This cannot fail: reports have only values that JSON can express, and little nesting.
        let bytes = (try? JSONWriter.write(self, options: .pretty)) ?? []
        return String(decoding: bytes, as: UTF8.self).showable(keepingLines: true) + "\n"
    }
}

/// Reads the members of a document that a program has written.
extension Parameter {
    /// The member called `key`, if it is text.
    package func text(_ key: String) -> String? {
        if case .string(let text)? = self[key] { text } else { nil }
    }

    /// The member called `key`, if it is a whole number, or its digits as text.
    package func number(_ key: String) -> Int? {
        switch self[key] {
        case .integer(let number): Int(exactly: number)
        case .number(let number): Int(exactly: number)
        case .string(let text): Int(text)
        default: nil
        }
    }

    /// The elements of the member called `key`; empty if it is no array.
    package func elements(_ key: String) -> [Parameter] {
        if case .array(let elements)? = self[key] { elements } else { [] }
    }
}
