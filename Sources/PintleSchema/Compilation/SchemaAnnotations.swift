// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The keywords of a schema that assert nothing but help to make values for it.
struct SchemaAnnotations: Sendable {
    /// The values of `example` and `examples`.
    var examples: [Parameter] = []
    /// The value of `default`.
    var fallback: Parameter?
    /// The format, even if it is not asserted.
    var format: String?
    /// True if values belong in requests only.
    var isWriteOnly = false

    /// - Returns: nil if the schema has none of these keywords, or none that is well-formed.
    init?(_ entries: [Parameter.Entry]) {
        for entry in entries {
            switch (entry.key, entry.value) {
            case ("example", let value): self.examples.insert(value, at: 0)
            case ("examples", .array(let values)): self.examples += values
            case ("default", let value): self.fallback = value
            case ("format", .string(let name)): self.format = name
            case ("writeOnly", .bool(let flag)): self.isWriteOnly = flag
            default: break
            }
        }
        if self.examples.isEmpty, self.fallback == nil, self.format == nil, !self.isWriteOnly { return nil }
    }
}
