// SPDX-License-Identifier: Apache-2.0

/// Decodes the content codings of one body, piece by piece.
///
/// Memory is bounded for all inputs: a window of at most 16 MiB and a piece of 64 KiB for each coding. A body of no bytes
/// is empty, whatever its codings. A decoder that has thrown must not be used again.
package final class ContentDecoder {
    /// Receives decoded bytes, which are valid during the call only. Returns true if it wants more.
    package typealias Sink = (UnsafeRawBufferPointer) -> Bool

    /// The maximum number of bytes that a sink receives at once.
    package static let pieceSize = 64 * 1024

    /// The layers in the order of decoding, which is the reverse of the order in which the codings were applied.
    private let layers: [any CodingLayer]
    private let outputs: UnsafeMutableRawBufferPointer
    /// The maximum number of bytes that any layer may produce. It applies to all layers, not only the last: the bytes
    /// between two layers could be endless and decode to nothing.
    private var limit: Int
    private let unfolding: Int
    /// The number of bytes that each layer has produced.
    private var counts: [Int]
    /// The bytes that each layer has produced and the next one has not consumed, as a range of the layer's output.
    private var waiting: [Range<Int>]
    /// True for layers that have filled their output, and so may produce more although all of their input was consumed.
    private var mayHaveMore: [Bool]

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - codings: the codings in the order in which they were applied, as Content-Encoding lists them.
    ///   - limit: the maximum number of decoded bytes.
    ///   - unfolding: the amount by which the limit grows with each byte of input.
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
        self.waiting = Array(repeating: 0..<0, count: layers.count)
        self.mayHaveMore = Array(repeating: false, count: layers.count)
        self.outputs = .allocate(byteCount: layers.count * Self.pieceSize, alignment: 16)
    }

    deinit { self.outputs.deallocate() }

    /// Decodes the bytes that have arrived.
    ///
    /// - Returns: true if the sink wants more; false as soon as it has refused.
    /// - Throws: the error in the body, after the sink has received the bytes before it.
    @discardableResult
    package func decode(
        _ input: UnsafeRawBufferPointer, into sink: Sink
    ) throws(ContentDecodingError) -> Bool {
        var input = input
        return try self.decode(&input, atMost: .max, into: sink) != .refused
    }

    /// The result of a decoding step.
    package enum Progress: Sendable, Equatable {
        /// All input is consumed and decoded.
        case done
        /// The allowance is used up. There may be more to decode, in the input or in the decoder.
        case more
        /// The sink wants no more.
        case refused
    }

    /// Decodes the bytes that have arrived, or the rest of them, in steps of bounded work: a few bytes may expand to
    /// thousands of times their number, in each of the layers.
    ///
    /// - Parameters:
    ///   - input: the bytes that have arrived, or those that the last call left over; consumed bytes are removed.
    ///   - allowance: about the number of bytes that all layers together may produce; each may exceed it by one piece.
    /// - Throws: the error in the body, after the sink has received the bytes before it.
    package func decode(
        _ input: inout UnsafeRawBufferPointer, atMost allowance: Int, into sink: Sink
    ) throws(ContentDecodingError) -> Progress {
        guard let last = self.layers.indices.last else { return Self.pass(&input, to: sink) ? .done : .refused }
        var made = 0
        // The layer nearest to the sink works first, so that each output is consumed before more is produced.
        while let index = self.layers.indices.last(where: { self.canWork($0, input) }) {
            guard made < allowance else { return .more }
            let count = try self.work(index, &input)
            made += count
            guard index == last, count > 0 else { continue }
            self.waiting[last] = 0..<0
            guard sink(UnsafeRawBufferPointer(rebasing: self.output(last)[..<count])) else { return .refused }
        }
        return .done
    }

    /// The approximate memory of the decoder, in bytes: its pieces, and its windows as far as they are filled.
    package var memory: Int {
        self.counts.reduce(0) { $0 + Self.pieceSize + min($1, Self.largestWindow) }
    }

    /// The largest window of Brotli's streams (RFC 7932 §9.1); the other codings use smaller ones.
    private static let largestWindow = 16 << 20

    /// Ends the body: no more bytes will arrive.
    ///
    /// - Throws: `.truncated` if a coding is incomplete.
    package func finish() throws(ContentDecodingError) {
        for layer in self.layers where !layer.isAtEnd { throw .truncated(layer.coding) }
    }

    /// Decodes a whole body.
    ///
    /// - Parameter admits: called with the size of each piece before it is kept; false stops decoding, to limit work and
    ///   memory.
    /// - Throws: `.stopped` as soon as a piece is not admitted.
    package static func decoded(
        _ body: [UInt8], _ codings: [ContentCoding], limit: Int, admits: (_ pieceSize: Int) -> Bool = { _ in true }
    ) throws(ContentDecodingError) -> [UInt8] {
        let decoder = try ContentDecoder(codings, limit: limit)
        var plain: [UInt8] = []
        var isWanted = true
        try body.withUnsafeBufferPointer { bytes throws(ContentDecodingError) in
            isWanted = try decoder.decode(UnsafeRawBufferPointer(bytes)) { piece in
                guard admits(piece.count) else { return false }
                plain.append(contentsOf: piece)
                return true
            }
        }
        guard isWanted else { throw .stopped }
        try decoder.finish()
        return plain
    }

    private func output(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            rebasing: self.outputs[index * Self.pieceSize..<(index + 1) * Self.pieceSize])
    }

    /// True if a layer has room for output, and input or state to produce it from.
    private func canWork(_ index: Int, _ input: UnsafeRawBufferPointer) -> Bool {
        guard self.waiting[index].isEmpty else { return false }
        return self.mayHaveMore[index] || !(index == 0 ? input.isEmpty : self.waiting[index - 1].isEmpty)
    }

    /// Lets one layer fill its output once.
    ///
    /// - Returns: the number of bytes that it produced.
    private func work(_ index: Int, _ input: inout UnsafeRawBufferPointer) throws(ContentDecodingError) -> Int {
        let output = self.output(index)
        let count: Int
        if index == 0 {
            let before = input.count
            count = try self.layers[0].decode(&input, into: output)
            self.limit += self.unfolding * (before - input.count)
        } else {
            let place = self.waiting[index - 1]
            var rest = UnsafeRawBufferPointer(rebasing: self.output(index - 1)[place])
            count = try self.layers[index].decode(&rest, into: output)
            self.waiting[index - 1] = place.upperBound - rest.count..<place.upperBound
        }
        self.mayHaveMore[index] = count == output.count
        self.waiting[index] = 0..<count
        self.counts[index] += count
        guard self.counts[index] <= self.limit else { throw .beyondLimit(self.limit) }
        return count
    }

    /// Passes a body without codings to the sink, in pieces.
    private static func pass(_ input: inout UnsafeRawBufferPointer, to sink: Sink) -> Bool {
        while !input.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: input.prefix(Self.pieceSize))
            guard sink(piece) else { return false }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(piece.count))
        }
        return true
    }
}

/// The decoder of one coding of a body.
protocol CodingLayer: AnyObject {
    var coding: ContentCoding { get }
    /// True if the bytes so far are complete; also before the first one.
    var isAtEnd: Bool { get }

    /// Consumes bytes from the front of `input` and decodes them, until the input is used up or the output is full.
    ///
    /// - Returns: the number of bytes of `output` that were written.
    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> Int
}
