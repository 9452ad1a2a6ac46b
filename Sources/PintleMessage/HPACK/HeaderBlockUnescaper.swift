// SPDX-License-Identifier: Apache-2.0

/// Rewrites the header blocks that an encoder of strings has written (RFC 7541): of fields without indexing, it takes the values for
/// text of bytes (`String.latin1Bytes`), and writes these.
///
/// Other fields stay as they are, and so does what the peer remembers: an entry of it would have another size.
package enum HeaderBlockUnescaper {
    /// - Returns: nil if there is nothing to be changed.
    package static func unescape(_ block: UnsafeRawBufferPointer) throws(WireError) -> [UInt8]? {
        var reader = HeaderBlockReader(block)
        var output: [UInt8] = []
        // Up to here, everything is in the output, if that is not empty.
        var copied = 0
        while let first = reader.next {
            let isIndexed = first >= 0x80
            let isSize = 0x20..<0x40 ~= first
            let index = try reader.integer(prefix: isIndexed ? 7 : first >= 0x40 ? 6 : isSize ? 5 : 4)
            if isIndexed || isSize { continue }
            if index == 0 { _ = try reader.string() }
            let start = reader.index
            guard let value = try reader.string() else { throw WireError(.malformed, "a header block is cut off") }
            guard first < 0x10 else { continue }
            var (text, bytes): ([UInt8], [UInt8]) = ([], [])
            try value.decode(into: &text)
            text.withUnsafeBytes { bytes.append(narrowing: $0) }
            output.append(contentsOf: block[copied..<start])
            // Bytes over 0x7F are longer in Huffman's code.
            output.append(integer: bytes.count, prefix: 7, first: 0)
            output += bytes
            copied = reader.index
        }
        guard copied > 0 else { return nil }
        output.append(contentsOf: block[copied...])
        return output
    }
}
