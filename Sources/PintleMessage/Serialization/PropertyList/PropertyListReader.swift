// SPDX-License-Identifier: Apache-2.0

/// Reads property lists, in the XML and the binary format.
///
/// The textual format of NeXTSTEP is not read: nearly any text is a document of it.
package enum PropertyListReader {
    /// The value of a whole document.
    ///
    /// - Throws: why `bytes` are no property list that can be read. A binary document with many times more values
    ///   than bytes is none, nor is one with sets, nor an XML document that ``XMLScanner`` refuses.
    package static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        if BinaryPropertyListReader.isBinary(bytes) { return try BinaryPropertyListReader.read(bytes) }
        return try XMLPropertyListReader.read(bytes)
    }
}

/// Why bytes are no property list.
public struct PropertyListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence.
    public let description: String

    package init(_ description: String) { self.description = description }
}
