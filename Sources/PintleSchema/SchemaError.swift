// SPDX-License-Identifier: Apache-2.0

/// The reason why a schema or an OpenAPI document is refused: the place, the fault, and the remedy.
package struct SchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the document and a JSON pointer into it (RFC 6901), as in `charge.json#/properties/amount`.
    package let location: String
    /// One sentence, beginning in lower case and without a full stop.
    package let sentence: String

    package init(_ location: String, _ sentence: String) {
        self.location = location
        self.sentence = sentence
    }

    /// `charge.json#/minLength: must be a whole number from 0, is “3”; …`
    package var description: String { "\(self.location): \(self.sentence)" }
}
