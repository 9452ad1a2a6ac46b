// SPDX-License-Identifier: Apache-2.0

/// Rewrites header blocks from an encoder that takes strings (RFC 7541): it converts the values of fields without indexing
/// from text back to the bytes that the text stands for (`String.latin1Bytes`).
///
/// Other fields stay unchanged, because entries in the peer's table would have another size otherwise.
package enum HeaderBlockUnescaper {
    /// - Returns: nil if nothing has to be changed.
    package static func unescape(_ block: UnsafeRawBufferPointer) throws(WireError) -> [UInt8]? {
        var reader = HeaderBlockReader(block)
        var output: [UInt8] = []
        // The number of input bytes that are in the output, if the output is not empty.
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
            // Without Huffman's code, in which bytes over 0x7F are longer.
            output.append(integer: bytes.count, prefix: 7, first: 0)
            output += bytes
            copied = reader.index
        }
        guard copied > 0 else { return nil }
        output.append(contentsOf: block[copied...])
        return output
    }
}
