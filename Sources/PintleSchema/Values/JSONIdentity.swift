// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization

/// A value as JSON Schema compares it (core §4.2.2): numbers by value, strings by code points, objects in any order.
///
/// Walks values recursively, so only values that ``InstanceSurvey`` has passed may be compared: they are at most 512 levels
/// deep, and no object in them has a key twice.
package struct JSONIdentity: Hashable, Sendable {
    let value: Parameter

    package init(_ value: Parameter) { self.value = value }

    package static func == (left: JSONIdentity, right: JSONIdentity) -> Bool {
        switch (left.value, right.value) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.string(let left), .string(let right)): return ExactName.areEqual(left, right)
        case (.integer(let left), .integer(let right)): return left == right
        case (.array(let left), .array(let right)):
            return left.count == right.count
                && zip(left, right).allSatisfy { JSONIdentity($0) == JSONIdentity($1) }
        case (.dictionary(let left), .dictionary(let right)):
            guard left.count == right.count else { return false }
            let members = Dictionary(
                left.map { (ExactName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
            return right.allSatisfy { entry in
                members[ExactName(entry.key)].map { JSONIdentity($0) == JSONIdentity(entry.value) } ?? false
            }
        case (.integer, _), (.number, _), (.decimal, _):
            guard let left = DecimalValue(left.value), let right = DecimalValue(right.value) else { return false }
            return left == right
        default: return false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self.value {
        case .null: hasher.combine(0)
        case .bool(let bool): hasher.combine(bool)
        case .string(let text): hasher.combine(ExactName(text))
        case .integer(let whole): hasher.combine(whole)
        case .number, .decimal:
            guard let number = DecimalValue(self.value) else { return }
            if let whole = number.integer { hasher.combine(whole) } else { hasher.combine(number) }
        case .array(let elements):
            hasher.combine(elements.count)
            for element in elements { hasher.combine(JSONIdentity(element)) }
        case .dictionary(let entries):
            hasher.combine(~entries.count)
            // The sum does not depend on the order, and the hashes are seeded, so an attacker cannot aim at a sum.
            hasher.combine(
                entries.reduce(0) { sum, entry in
                    var hasher = Hasher()
                    hasher.combine(ExactName(entry.key))
                    hasher.combine(JSONIdentity(entry.value))
                    return sum &+ hasher.finalize()
                })
        default: hasher.combine(1)
        }
    }
}
