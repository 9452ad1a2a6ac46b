// SPDX-License-Identifier: Apache-2.0

/// An upper bound of the number of values in a document, computed from its bytes before they are parsed: each value in
/// JSON, a form, XML or a multipart body needs one of a few separators of its own.
package struct DocumentWeight: Sendable, Equatable {
    /// The size of the document in bytes.
    package let byteCount: Int
    /// The maximum number of values that it can have.
    package let valueCount: Int

    /// The memory of a value in a tree, in bytes: itself, its share of its container's storage, its key, and its copy in a
    /// set.
    private static let bytesPerValue = 128
    /// The size of a value in a binary property list: at least one byte each for the object, its place and a reference to
    /// it.
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
            // Forms spell "[" as "%5B"; each one opens a level.
            case UInt8(ascii: "5") where last == UInt8(ascii: "%"): separators += 1
            default: break
            }
        }
        self.byteCount = byteCount
        self.valueCount =
            start.elementsEqual("bplist".utf8) ? byteCount / Self.bytesPerPackedValue + 1 : separators + 1
    }

    /// The approximate memory of the document as a tree of values, in bytes, including temporary copies.
    package var treeBytes: Int { 2 * self.byteCount + Self.bytesPerValue * self.valueCount }
}
