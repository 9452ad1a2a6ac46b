// SPDX-License-Identifier: Apache-2.0

/// An upper bound of the values in a document, taken from its bytes before anything reads them: each value of JSON, of a form,
/// of XML or of a multipart body needs one of a few separators of its own.
package struct DocumentWeight: Sendable, Equatable {
    /// Bytes of the document.
    package let byteCount: Int
    /// The most values that it can have.
    package let valueCount: Int

    /// A value in a tree: itself, its share of its container's storage, its key, and what a set of values keeps of it.
    private static let bytesPerValue = 128
    /// A binary property list needs a byte for an object, one for its place and one for a reference to it.
    private static let bytesPerPackedValue = 3

    /// Counts the separators of `bytes`.
    package init(of bytes: some Sequence<UInt8>) {
        var byteCount = 0
        var separators = 0
        var start: [UInt8] = []
        var last: UInt8 = 0
        for byte in bytes {
            if byteCount < 6 { start.append(byte) }
            byteCount += 1
            defer { last = byte }
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ":"), UInt8(ascii: "<"),
                UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "\n"):
                separators += 1
            // A form's "[" is spelled "%5B", and each opens a level.
            case UInt8(ascii: "5") where last == UInt8(ascii: "%"): separators += 1
            default: break
            }
        }
        self.byteCount = byteCount
        self.valueCount =
            start.elementsEqual("bplist".utf8) ? byteCount / Self.bytesPerPackedValue + 1 : separators + 1
    }

    /// How much memory the document takes as a tree of values, in bytes, with the copies that are made on the way.
    package var treeBytes: Int { 2 * self.byteCount + Self.bytesPerValue * self.valueCount }
}
