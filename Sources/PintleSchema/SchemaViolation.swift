// SPDX-License-Identifier: Apache-2.0

/// One way in which a value does not keep to its schema.
package struct SchemaViolation: Sendable, Equatable, CustomStringConvertible {
    /// Where in the instance: a JSON pointer (RFC 6901), empty for the whole.
    package let instanceLocation: String
    /// Which keyword of which schema: the document's name and a JSON pointer; empty where no schema is at fault.
    package let schemaLocation: String
    /// The keyword, such as `minLength`; empty where no schema is at fault.
    package let keyword: String
    /// What must hold and what is there instead: `must have at least 3 characters, has 2`.
    package let sentence: String

    /// `at /items/3/price: must be at least 0, is -1`; the whole is `at the root`. A long pointer is cut.
    package var description: String {
        let place = self.instanceLocation.isEmpty ? "the root" : Wording.line(self.instanceLocation, limit: 200)
        return "at \(place): \(self.sentence)"
    }
}
