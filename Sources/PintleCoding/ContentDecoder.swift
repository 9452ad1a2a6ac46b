// SPDX-License-Identifier: Apache-2.0

/// Undoes the content codings of one body, piece by piece.
///
/// Memory is bounded whatever the bytes say: a window of at most 16 MiB and a piece of 64 KiB for each coding. A body
/// without a byte is empty, whatever its codings. A decoder that has thrown is of no further use.
package final class ContentDecoder {
    /// Sees decoded bytes, which are valid during the call only, and answers whether it wants more.
    package typealias Sink = (UnsafeRawBufferPointer) -> Bool

    /// The most bytes that a sink is given at once.
    package static let pieceSize = 64 * 1024

    /// The layers in the order in which they are taken off, which is the reverse of the one they were applied in.
    private let layers: [any CodingLayer]
    private let outputs: UnsafeMutableRawBufferPointer
    /// The most bytes that any layer may unfold to. Not only the last: what comes out between two of them could be
    /// endless and make nothing of the next one.
    private var limit: Int
    private let unfolding: Int
    private var counts: [Int]

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - codings: in the order in which they were applied, as Content-Encoding has them.
    ///   - limit: the most decoded bytes.
    ///   - unfolding: how many more they may be for each byte that is taken in.
    /// - Throws: `.outOfMemory`.
    package init(_ codings: [ContentCoding], limit: Int, unfolding: Int = 0) throws(ContentDecodingError) {
        var layers: [any CodingLayer] = []
        for coding in codings.reversed() {
            switch coding {
            case .gzip: layers.append(try InflateLayer(.gzip))
            case .deflate: layers.append(try InflateLayer(.deflate))
            case .br: layers.append(try BrotliLayer())
            case .zstd: layers.append(try ZstdLayer())
            }
        }
        self.layers = layers
        self.limit = limit
        self.unfolding = unfolding
        self.counts = Array(repeating: 0, count: layers.count)
        self.outputs = .allocate(byteCount: layers.count * Self.pieceSize, alignment: 16)
    }

    deinit { self.outputs.deallocate() }

    /// Decodes what has arrived.
    ///
    /// - Returns: whether the sink wants more; false as soon as it has said so.
    /// - Throws: what is wrong with the body, after the sink has seen what came before.
    @discardableResult
    package func decode(
        _ input: UnsafeRawBufferPointer, into sink: Sink
    ) throws(ContentDecodingError) -> Bool {
        self.limit += self.unfolding * input.count
        return try self.decode(input, from: 0, into: sink)
    }

    /// Says that nothing more will arrive.
    ///
    /// - Throws: `.truncated` where a coding has not come to its end.
    package func finish() throws(ContentDecodingError) {
        for layer in self.layers where !layer.isAtEnd { throw .truncated(layer.coding) }
    }

    /// Decodes a whole body.
    package static func decoded(
        _ body: [UInt8], _ codings: [ContentCoding], limit: Int
    ) throws(ContentDecodingError) -> [UInt8] {
        let decoder = try ContentDecoder(codings, limit: limit)
        var plain: [UInt8] = []
        try body.withUnsafeBufferPointer { bytes throws(ContentDecodingError) in
            _ = try decoder.decode(UnsafeRawBufferPointer(bytes)) { piece in
                plain.append(contentsOf: piece)
                return true
            }
        }
        try decoder.finish()
        return plain
    }

    private func decode(
        _ input: UnsafeRawBufferPointer, from index: Int, into sink: Sink
    ) throws(ContentDecodingError) -> Bool {
        // As deep as there are layers.
        guard index < self.layers.count else {
            var rest = input[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceSize))
                guard sink(piece) else { return false }
                rest = rest.dropFirst(piece.count)
            }
            return true
        }
        let output = UnsafeMutableRawBufferPointer(
            rebasing: self.outputs[index * Self.pieceSize..<(index + 1) * Self.pieceSize])
        var rest = input
        var isFull = false
        // A full piece may have more behind it although all input was taken.
        while !rest.isEmpty || isFull {
            let count = try self.layers[index].decode(&rest, into: output)
            isFull = count == output.count
            guard count > 0 else { continue }
            self.counts[index] += count
            guard self.counts[index] <= self.limit else { throw .beyondLimit(self.limit) }
            guard try self.decode(UnsafeRawBufferPointer(rebasing: output[..<count]), from: index + 1, into: sink)
            else {
                return false
            }
        }
        return true
    }
}

/// One coding on its way off a body.
protocol CodingLayer: AnyObject {
    var coding: ContentCoding { get }
    /// Whether the bytes so far are whole; true before the first one.
    var isAtEnd: Bool { get }

    /// Takes bytes from the front of `input` and decodes until the input is taken or the output is full.
    ///
    /// - Returns: how many bytes of `output` were written.
    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> Int
}
