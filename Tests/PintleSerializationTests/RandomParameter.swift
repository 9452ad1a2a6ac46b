// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting

/// Random values for property tests.
enum RandomParameter {
    private static let characters: [Character] = [
        "a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t", "\u{1}", "\u{7F}", "é", "e\u{301}", "日", "\u{FFFF}", "😀",
        "\u{2028}", "&", "=", "%", "+", "[", "]", "{", "}", ":", ",", "\u{0}",
    ]

    static func string(_ random: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0...24, using: &random)).compactMap { _ in characters.randomElement(using: &random) })
    }

    /// An array or a dictionary with at most `depth` levels below it.
    static func document(depth: Int, _ random: inout SeededGenerator) -> Parameter {
        let count = Int.random(in: 0...5, using: &random)
        if Bool.random(using: &random) {
            return .array((0..<count).map { _ in value(depth: depth, &random) })
        }
        return .dictionary(
            (0..<count).map { Parameter.Entry("\($0)" + string(&random), value(depth: depth, &random)) })
    }

    static func value(depth: Int, _ random: inout SeededGenerator) -> Parameter {
        switch Int.random(in: 0...(depth > 0 ? 8 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0...63, using: &random))
        case 3:
            let double = Double(bitPattern: random.next())
            return .number(double.isFinite ? double : 0.1)
        case 4: return .decimal("1.00000000000000000000000\(random.next())")
        case 5: return .string(string(&random))
        default: return document(depth: depth - 1, &random)
        }
    }
}
