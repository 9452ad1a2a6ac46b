// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleWebSocket

/// Text that comes in pieces.
@Suite struct UTF8CheckTests {
    /// Returns the offset of the piece at which the check fails: the length if the text is only incomplete; nil if it is
    /// valid.
    private static func failure(_ bytes: [UInt8], pieces: Int) -> Int? {
        var check = UTF8Check()
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
            if !piece.withUnsafeBytes({ check.accepts($0) }) { return start / pieces * pieces }
        }
        return check.isComplete ? nil : bytes.count
    }

    @Test func `every character is accepted, however it is cut`() {
        var text = ""
        for value in stride(from: 0, through: 0x10FFFF, by: 37) {
            if let scalar = Unicode.Scalar(UInt32(value)) { text.unicodeScalars.append(scalar) }
        }
        for pieces in [1, 2, 3, 5, 7, 8, 9, 64, 1 << 20] {
            #expect(Self.failure(Array(text.utf8), pieces: pieces) == nil)
        }
    }

    @Test func `what the standard library takes for no UTF-8 is none`() {
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        // Bytes that often make characters, or almost.
        let likely: [UInt8] = [
            0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xE1, 0xED, 0xF0, 0xF4, 0xF5,
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let bytes = (0..<count).map { _ in likely[Int.random(in: 0..<likely.count, using: &generator)] }
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            for pieces in [1, 3, 16] {
                #expect((Self.failure(bytes, pieces: pieces) == nil) == isValid, "\(bytes), seed \(Seed.ofThisRun)")
            }
        }
    }

    @Test func `it fails at the byte that no other can mend`() {
        let wrong: [[UInt8]] = [
            [0xED, 0xA0], [0xF4, 0x90], [0xE0, 0x9F], [0xF0, 0x8F], [0xC0], [0xF5], [0x80], [0xE1, 0x80, 0x41],
        ]
        for bytes in wrong {
            let text = Array("0123456789".utf8) + bytes
            #expect(Self.failure(text, pieces: 1) == text.count - 1, "\(bytes)")
            #expect(Self.failure(text.dropLast(), pieces: 1).map { $0 == text.count - 1 } ?? true, "\(bytes)")
        }
    }
}
