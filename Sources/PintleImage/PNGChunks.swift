// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
internal import PintleSerialization

/// The chunks of a PNG (PNG §5.3), each with length, name, content and checksum.
struct PNGChunks: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var index = 8

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next chunk; nil at the end. The content of the last one may be cut off.
    mutating func next() -> (name: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
        guard self.index + 12 <= self.bytes.count else { return nil }
        let start = self.index + 8
        let length = self.bytes[self.index..<self.index + 4].reduce(0) { $0 << 8 | Int($1) }
        self.index = start + length + 4
        return (self.bytes[start - 4..<start], self.bytes[start..<Swift.min(start + length, self.bytes.count)])
    }

    /// True if the last chunk, IEND, is present.
    var isWhole: Bool {
        self.contains { $0.name.elementsEqual("IEND".utf8) && $0.content.isEmpty }
    }
}

/// Counts the bytes to which the compressed texts and the colour profile of a PNG expand.
///
/// libpng keeps up to a thousand of them until the picture is complete, each of up to 8 MB: some kilobytes of input could
/// take gigabytes.
struct PNGTextBudget {
    /// The maximum of bytes of all texts together. A colour profile has some kilobytes, rarely two million bytes; a text
    /// has less.
    private static let byteLimit = 8 << 20
    /// The maximum number of texts. Each takes a decoder, even if it is short.
    private static let countLimit = 256

    private var byteCount = 0
    private var count = 0

    /// - Throws: `.tooLarge` as soon as the limits are exceeded, before libpng receives the chunks.
    static func check(_ bytes: [UInt8], within budget: WorkBudget) throws(ImageError) {
        var counted = PNGTextBudget()
        for chunk in PNGChunks(bytes) {
            guard let packed = Self.packed(chunk.name, chunk.content) else { continue }
            counted.count += 1
            guard counted.count <= Self.countLimit else {
                throw ImageError(
                    .tooLarge, "its compressed texts are more than the \(Self.countLimit) that are accepted")
            }
            try counted.add(packed, within: budget)
        }
    }

    private mutating func add(_ packed: ArraySlice<UInt8>, within budget: WorkBudget) throws(ImageError) {
        var count = self.byteCount
        var hasMemory = true
        // libpng ignores a text with invalid deflate data; the bytes that it produced before the error are counted.
        _ = try? packed.withUnsafeBytes { input in
            try ContentDecoder([.deflate], limit: .max).decode(input) { piece in
                count += piece.count
                hasMemory = budget.admits(decoded: piece.count)
                return hasMemory && count <= Self.byteLimit
            }
        }
        self.byteCount = count
        guard count <= Self.byteLimit else {
            throw ImageError(
                .tooLarge, "its compressed texts unfold to more than the \(Self.byteLimit) bytes that are accepted")
        }
        guard hasMemory else { throw ImageError(.tooLarge, "there is no memory for its compressed texts") }
    }

    /// Returns the compressed part of a chunk; nil if it has none.
    private static func packed(_ name: ArraySlice<UInt8>, _ content: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let keywordEnd = content.firstIndex(of: 0) else { return nil }
        let rest = content[(keywordEnd + 1)...]
        switch String(decoding: name, as: UTF8.self) {
        // Skips the byte that names the compression method; there is only one.
        case "zTXt", "iCCP": return rest.dropFirst()
        case "iTXt":
            guard rest.first == 1 else { return nil }
            // A language and a translated keyword follow the flag and the compression method.
            let parts = rest.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            return parts.count == 3 ? parts[2] : nil
        default: return nil
        }
    }
}
