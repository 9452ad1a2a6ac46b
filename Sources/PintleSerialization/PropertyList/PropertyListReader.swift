// SPDX-License-Identifier: Apache-2.0

/// Reads property lists, in the XML and the binary format.
///
/// The textual format of NeXTSTEP is not supported, because nearly any text is a valid document in it.
package enum PropertyListReader {
    /// Reads a whole document.
    ///
    /// - Throws: the reason why `bytes` are not an accepted property list. Binary documents with sets, or with many times
    ///   more values than bytes, are refused, and so are XML documents that ``XMLScanner`` refuses.
    package static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        if BinaryPropertyListReader.isBinary(bytes) { return try BinaryPropertyListReader.read(bytes) }
        return try XMLPropertyListReader.read(bytes)
    }
}

/// The reason why bytes are not an accepted property list.
public struct PropertyListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason in one sentence.
    public let description: String

    package init(_ description: String) { self.description = description }

    /// The error for a key that is not stream-safe: keys are compared by canonical equivalence.
    static let unsafeKey = PropertyListError("the document has a key with over 30 combining marks in a row")
}
