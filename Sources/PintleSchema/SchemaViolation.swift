// SPDX-License-Identifier: Apache-2.0

/// One way in which a value does not keep to its schema.
package struct SchemaViolation: Sendable, Equatable, CustomStringConvertible {
    /// The place in the instance: a JSON pointer (RFC 6901); empty for the whole instance.
    package let instanceLocation: String
    /// The place of the keyword: the document's name and a JSON pointer; empty if no schema is at fault.
    package let schemaLocation: String
    /// The keyword, such as `minLength`; empty if no schema is at fault.
    package let keyword: String
    /// The requirement, and the actual value: `must have at least 3 characters, has 2`.
    package let sentence: String

    /// `at /items/3/price: must be at least 0, is -1`; the whole is `at the root`. A long pointer is cut.
    package var description: String {
        let place = self.instanceLocation.isEmpty ? "the root" : Wording.line(self.instanceLocation, limit: 200)
        return "at \(place): \(self.sentence)"
    }
}
