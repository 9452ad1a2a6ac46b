// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleCoding
import PintleTesting
import Testing

@Suite struct HostileCodingTests {
    @Test(arguments: Encoder.allCases)
    func `what unfolds beyond the limit is stopped there`(encoder: Encoder) throws {
        let coded = try encoder.encode([UInt8](repeating: 0, count: 1 << 20))
        let limit = 100_000
        let decoder = try ContentDecoder([encoder.coding], limit: limit)
        var count = 0
        let error = #expect(throws: ContentDecodingError.self) {
            try coded.withUnsafeBytes { bytes in
                try decoder.decode(bytes) {
                    count += $0.count
                    return true
                }
            }
        }
        #expect(error == .beyondLimit(limit) && count <= limit)
        #expect("\(ContentDecodingError.beyondLimit(limit))" == "decoded it is over 100000 bytes")
        #expect(decoded(coded, [encoder.coding], limit: 1 << 20).error == nil)
        #expect(decoded(coded, [encoder.coding], limit: 1 << 20 - 1).error == .beyondLimit(1 << 20 - 1))
    }

    @Test func `between two codings the limit holds as well`() throws {
        // Stored blocks without content: endless to the outer coding, nothing to the inner one.
        let empty = [UInt8](repeating: 0, count: 0) + (0..<400_000).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] }
        let coded = try Encoder.zstd.encode(empty + [1, 0, 0, 0xFF, 0xFF])
        #expect(coded.count < 1_000)
        #expect(decoded(coded, [.deflate, .zstd], limit: 1_000_000).error == .beyondLimit(1_000_000))
        #expect(try decoded(coded, [.deflate, .zstd], limit: 3_000_000).get() == [])
    }

    @Test(.disabled(if: runsUnderSanitizer, "sanitizers keep memory of their own"))
    func `a GiB of zeros is decoded in flat memory`() async {
        await #expect(processExitsWith: .success) {
            let zeros = "head -c 1073741824 /dev/zero"
            // Sixteen members, which take less time to make than one.
            let members =
                "head -c 67108864 /dev/zero | gzip -1 >member; "
                + "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat member; done"
            let bombs: [([UInt8], [ContentCoding])] = [
                (try ShellFilter.run(members), [.gzip]),
                (try ShellFilter.run("\(zeros) | brotli -1"), [.br]),
                (try ShellFilter.run("\(zeros) | zstd -q"), [.zstd]),
                (try ShellFilter.run("{ \(members); } | gzip -1 | zstd -q"), [.gzip, .gzip, .zstd]),
            ]
            let before = try Self.peakMemory()
            for (bomb, codings) in bombs {
                #expect(bomb.count < 8 << 20)
                let decoder = try ContentDecoder(codings, limit: 1 << 30)
                var count = 0
                _ = try bomb.withUnsafeBytes { bytes in
                    try decoder.decode(bytes) {
                        count += $0.count
                        return true
                    }
                }
                try decoder.finish()
                #expect(count == 1 << 30)
            }
            #expect(try Self.peakMemory() - before < 48 << 10)
        }
    }

    @Test(arguments: Encoder.allCases)
    func `broken bytes are an error or other bytes, never more than the limit`(encoder: Encoder) throws {
        let coded = try encoder.encode(sample(2_000))
        var generator = SeededGenerator(seed: 11)
        var errors = 0
        for _ in 0..<1_500 {
            var broken = coded
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                broken[Int.random(in: broken.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            switch decoded(broken, [encoder.coding], limit: 10_000) {
            case .success(let plain): #expect(plain.count <= 10_000)
            case .failure: errors += 1
            }
        }
        #expect(errors > 400)
    }

    @Test(arguments: ContentCoding.allCases)
    func `noise is an error`(coding: ContentCoding) {
        var generator = SeededGenerator(seed: 13)
        for _ in 0..<1_000 {
            let noise = (0..<Int.random(in: 1...300, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if case .success(let plain) = decoded(noise, [coding], limit: 10_000) { #expect(plain.count <= 10_000) }
        }
    }

    @Test func `very many empty members and frames cost no more than their bytes`() throws {
        let members = [[UInt8]](repeating: try Encoder.gzip.encode([]), count: 20_000)
        #expect(try decoded(Array(members.joined()), [.gzip]).get() == [])
        // Each asks for a window of 8 MiB.
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0x68, 1, 0, 0]
        #expect(try decoded(Array([[UInt8]](repeating: frame, count: 20_000).joined()), [.zstd]).get() == [])
    }

    /// If the header of such a frame was cut off, libzstd read the next frame in its place.
    @Test func `LOOK-59 a later frame that wants a dictionary is broken, however it is cut`() throws {
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0x1F, 0x8B, 8, 0, 3]
        let bytes = frame + [0x28, 0xB5, 0x2F, 0xFD, 0x63, 0x1F, 0x8B, 0x3F, 0, 3] + frame + [0]
        for length in 1...bytes.count {
            let decoder = try ContentDecoder([.zstd], limit: 1_000)
            let error = #expect(throws: ContentDecodingError.self) {
                for start in stride(from: 0, to: bytes.count, by: length) {
                    try bytes[start..<min(bytes.count, start + length)].withUnsafeBytes {
                        _ = try decoder.decode($0) { _ in true }
                    }
                }
                try decoder.finish()
            }
            guard case .corrupt(.zstd, _) = error else {
                Issue.record("in pieces of \(length): \(error.map { "\($0)" } ?? "nothing")")
                continue
            }
        }
    }

    /// KiB.
    private static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
}

@Suite struct SteppedDecodingTests {
    @Test(arguments: [[Encoder.gzip], [.zstd], [.br], [.gzip, .br], [.deflate, .gzip, .zstd]])
    func `LOOK-06 a body that unfolds far is decoded in steps of bounded work`(encoders: [Encoder]) throws {
        let plain = [UInt8](repeating: 0x30, count: 5_000_000)
        let coded = try encoders.reduce(plain) { try $1.encode($0) }
        let decoder = try ContentDecoder(encoders.map(\.coding), limit: plain.count + 1)
        let allowance = 200_000
        var (steps, count, isSame) = (0, 0, true)
        try coded.withUnsafeBytes { bytes in
            var rest = bytes
            var progress = ContentDecoder.Progress.more
            while progress == .more {
                let before = count
                progress = try decoder.decode(&rest, atMost: allowance) { piece in
                    count += piece.count
                    isSame = isSame && piece.allSatisfy { $0 == 0x30 }
                    return true
                }
                #expect(count - before <= allowance + ContentDecoder.pieceSize)
                steps += 1
            }
            #expect(progress == .done && rest.isEmpty)
        }
        try decoder.finish()
        #expect(count == plain.count && isSame)
        #expect(steps >= plain.count / (allowance + ContentDecoder.pieceSize))
        #expect(decoder.memory > plain.count)
    }
}
