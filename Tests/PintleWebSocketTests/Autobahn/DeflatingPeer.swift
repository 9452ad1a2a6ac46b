// SPDX-License-Identifier: Apache-2.0

import PintleCoding
import PintleTesting

/// The far end's half of permessage-deflate, by hand.
final class DeflatingPeer {
    private let deflater: RawDeflater
    private let inflater: RawInflater
    private let ownForgets: Bool
    private let othersForget: Bool

    /// - Parameters:
    ///   - own: the window of the bytes it sends, and true if each message is compressed without earlier ones.
    ///   - others: the same for the bytes it receives; a reference to earlier bytes is an error.
    init(own: (bits: Int, forgets: Bool), others: (bits: Int, forgets: Bool)) throws {
        self.deflater = try RawDeflater(windowBits: own.bits, level: 6)
        self.inflater = try RawInflater(windowBits: others.bits)
        (self.ownForgets, self.othersForget) = (own.forgets, others.forgets)
    }

    /// The frames of a message.
    func frames(of message: [UInt8], isText: Bool, fragment: Int?) -> [WebSocketPeer.Frame] {
        if self.ownForgets { self.deflater.reset() }
        var bytes: [UInt8] = []
        message.withUnsafeBytes { self.deflater.deflate($0, isLast: true) { bytes += Array($0) } }
        precondition(bytes.suffix(4) == [0, 0, 0xFF, 0xFF])
        bytes.removeLast(4)
        var frames = WebSocketPeer.Frame.fragments(of: bytes, opcode: isText ? 1 : 2, size: fragment ?? bytes.count)
        frames[0].reserved = 4
        return frames
    }

    /// The plain bytes of a message that has come.
    func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        if self.othersForget { self.inflater.reset() }
        var plain: [UInt8] = []
        // Small pieces, so that the window has exactly its size.
        var space = [UInt8](repeating: 0, count: 256)
        try (bytes + [0, 0, 0xFF, 0xFF]).withUnsafeBytes { input in
            var rest = input
            while true {
                let outcome = space.withUnsafeMutableBytes { self.inflater.inflate(&rest, into: $0) }
                if let failure = outcome.failure { throw failure }
                plain += space[..<outcome.count]
                guard outcome.count == space.count else { return }
            }
        }
        guard self.inflater.isBetweenBlocks else { throw TestFailure("a message does not end with a block") }
        return plain
    }
}
