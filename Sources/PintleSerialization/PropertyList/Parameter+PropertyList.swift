// SPDX-License-Identifier: Apache-2.0

extension Parameter {
    /// Makes a parameter with the same value, without loss.
    ///
    /// A property list keeps no order of keys, so they are sorted by UTF-16 code units: one document always makes the same
    /// request. Whole numbers above `Int64.max` become `.decimal`.
    public init(_ value: PropertyListValue) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .decimal(String(value))
        case .real(let value): self = .number(value)
        case .string(let text): self = .string(text)
        case .data(let bytes): self = .data(bytes)
        case .date(let seconds): self = .date(seconds)
        case .array(let elements): self = .array(elements.map { Parameter($0) })
        case .dictionary(let members):
            let sorted = members.sorted { $0.key.precedesByCodeUnit($1.key) }
            self = .dictionary(sorted.map { Entry($0.key, Parameter($0.value)) })
        }
    }
}
