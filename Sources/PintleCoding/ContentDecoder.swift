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
    /// How many bytes each layer has made.
    private var counts: [Int]
    /// What each layer has made and the next one has not taken, as a part of its output.
    private var waiting: [Range<Int>]
    /// Whether a layer has filled its output, and so may have more to give although all of its input was taken.
    private var mayHaveMore: [Bool]

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
        self.waiting = Array(repeating: 0..<0, count: layers.count)
        self.mayHaveMore = Array(repeating: false, count: layers.count)
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
        var input = input
        return try self.decode(&input, atMost: .max, into: sink) != .refused
    }

    /// How far decoding has come.
    package enum Progress: Sendable, Equatable {
        /// The input is taken and decoded.
        case done
        /// As much was made as was asked for. There may be more, in the input or in the decoder.
        case more
        /// The sink wants nothing more.
        case refused
    }

    /// Decodes what has arrived, or the rest of it, in steps of bounded work: a few bytes may unfold to thousands of times as
    /// many, in each of the layers.
    ///
    /// - Parameters:
    ///   - input: what is left after the last call; the bytes that are taken are removed.
    ///   - allowance: about how many bytes all layers together may make; one piece of each more at most.
    /// - Throws: what is wrong with the body, after the sink has seen what came before.
    package func decode(
        _ input: inout UnsafeRawBufferPointer, atMost allowance: Int, into sink: Sink
    ) throws(ContentDecodingError) -> Progress {
        guard let last = self.layers.indices.last else { return Self.pass(&input, to: sink) ? .done : .refused }
        var made = 0
        // The layer nearest to the sink first, so that no output is made before the one before it is used up.
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

    /// About how much memory the decoder takes, in bytes: its pieces, and windows as far as they are filled.
    package var memory: Int {
        self.counts.reduce(0) { $0 + Self.pieceSize + min($1, Self.largestWindow) }
    }

    /// What Brotli's streams may ask for (RFC 7932 §9.1); the others ask for less.
    private static let largestWindow = 16 << 20

    /// Says that nothing more will arrive.
    ///
    /// - Throws: `.truncated` where a coding has not come to its end.
    package func finish() throws(ContentDecodingError) {
        for layer in self.layers where !layer.isAtEnd { throw .truncated(layer.coding) }
    }

    /// Decodes a whole body.
    ///
    /// - Parameter admits: asked about the size of each piece before it is kept; work and memory may have their limits.
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

    /// Whether a layer has room for output, and something to make it of.
    private func canWork(_ index: Int, _ input: UnsafeRawBufferPointer) -> Bool {
        guard self.waiting[index].isEmpty else { return false }
        return self.mayHaveMore[index] || !(index == 0 ? input.isEmpty : self.waiting[index - 1].isEmpty)
    }

    /// Has one layer fill its output once.
    ///
    /// - Returns: how many bytes it has made.
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

    /// Gives a body without codings to the sink, in pieces.
    private static func pass(_ input: inout UnsafeRawBufferPointer, to sink: Sink) -> Bool {
        while !input.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: input.prefix(Self.pieceSize))
            guard sink(piece) else { return false }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(piece.count))
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
