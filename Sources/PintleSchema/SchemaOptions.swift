// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization

/// Options for reading and applying schemas.
package struct SchemaOptions: Sendable, Equatable {
    /// True if `format` is asserted, for the formats that can be. Default false: the draft makes it an annotation.
    package var assertsFormats: Bool
    /// The most violations that are reported for one instance, at least 1. Default 16.
    package var violationLimit: Int
    /// True if sentences quote the values that they are about, which may be secret. Default true; otherwise they still name
    /// the place of a fault and the requirement.
    package var showsValues: Bool

    package init(assertsFormats: Bool = false, violationLimit: Int = 16, showsValues: Bool = true) {
        self.assertsFormats = assertsFormats
        self.violationLimit = max(1, violationLimit)
        self.showsValues = showsValues
    }
}

/// Reads the document that a relative reference names.
///
/// The argument is the reference, resolved against the name of the document that has it: in `schemas/charge.json` the
/// reference `../common.json#/$defs/money` asks for `common.json`. Called once for each name. An error that it throws becomes
/// the sentence of a ``SchemaError``.
package typealias SchemaResolver = (String) throws -> Parameter
