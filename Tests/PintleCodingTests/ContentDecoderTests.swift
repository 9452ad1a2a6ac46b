// SPDX-License-Identifier: Apache-2.0

import PintleCoding
import PintleTesting
import Testing

@Suite struct ContentDecoderTests {
    @Test(arguments: Encoder.allCases, [0, 1, 100, 65_536, 3_000_001])
    func `what a program encodes is decoded`(encoder: Encoder, count: Int) throws {
        let plain = sample(count)
        let coded = try encoder.encode(plain)
        #expect(try decoded(coded, [encoder.coding]).get() == plain)
        #expect(try ContentDecoder.decoded(coded, [encoder.coding], limit: count) == plain)
    }

    @Test func `a body without coding is itself`() throws {
        #expect(try decoded(sample(200_000), []).get() == sample(200_000))
        #expect(decoded(sample(3), [], limit: 2).error == nil)
    }

    @Test(arguments: ContentCoding.allCases)
    func `a body without a byte is empty whatever its coding`(coding: ContentCoding) throws {
        #expect(try decoded([UInt8](), [coding, coding]).get() == [])
        #expect(try decoded([[], []] as [ArraySlice<UInt8>], [coding]).get() == [])
    }

    @Test(arguments: Encoder.allCases)
    func `pieces of every size give the same`(encoder: Encoder) throws {
        let plain = sample(400)
        let coded = try encoder.encode(plain)
        for index in 0...coded.count {
            #expect(
                try decoded([coded[..<index], coded[index...]], [encoder.coding]).get() == plain, "split at \(index)")
        }
        #expect(try decoded(coded.indices.map { coded[$0...$0] }, [encoder.coding]).get() == plain)
        var generator = SeededGenerator(seed: 7)
        let long = sample(500_000)
        let codedLong = try encoder.encode(long)
        var pieces: [ArraySlice<UInt8>] = []
        var rest = codedLong[...]
        while !rest.isEmpty {
            pieces.append(rest.prefix(Int.random(in: 0...9_000, using: &generator)))
            rest = rest.dropFirst(pieces[pieces.count - 1].count)
        }
        #expect(try decoded(pieces, [encoder.coding]).get() == long)
    }

    @Test func `codings over each other are undone in reverse`() throws {
        let plain = sample(10_000)
        let twice = try Encoder.br.encode(try Encoder.gzip.encode(plain))
        #expect(try decoded(twice, [.gzip, .br]).get() == plain)
        #expect(decoded(twice, [.br, .gzip]).error == .corrupt(.gzip, reason: "incorrect header check"))
        let all = try Encoder.allCases.reduce(plain) { try $1.encode($0) }
        #expect(try decoded(all.indices.map { all[$0...$0] }, Encoder.allCases.map(\.coding)).get() == plain)
    }

    @Test func `a sink is given pieces of bounded size and stops when it wants no more`() throws {
        let coded = try Encoder.gzip.encode(sample(300_000))
        for codings in [[], [ContentCoding.gzip]] {
            let decoder = try ContentDecoder(codings, limit: 1 << 30)
            var sizes: [Int] = []
            let wantsMore = try (codings.isEmpty ? sample(300_000) : coded).withUnsafeBytes { bytes in
                try decoder.decode(bytes) {
                    sizes.append($0.count)
                    return sizes.count < 3
                }
            }
            #expect(!wantsMore && sizes.count == 3)
            #expect(sizes.allSatisfy { 1...ContentDecoder.pieceSize ~= $0 })
        }
    }

    // MARK: Formats

    @Test func `gzip has as many members as it likes`() throws {
        let members = try [sample(10), [], sample(70_000)].map { try Encoder.gzip.encode($0) }
        let coded = Array(members.joined())
        #expect(try decoded(coded, [.gzip]).get() == sample(10) + sample(70_000))
        #expect(try decoded(coded.indices.map { coded[$0...$0] }, [.gzip]).get() == sample(10) + sample(70_000))
        // The header has every optional part that gzip writes for a file.
        let full = try ShellFilter.run("cat >a.txt && gzip -c a.txt", sample(10))
        #expect(try decoded(full, [.gzip]).get() == sample(10))
    }

    @Test func `zstd has frames, some of which are skipped`() throws {
        let frame = try Encoder.zstd.encode(sample(1_000))
        let skipped: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
        #expect(try decoded(frame + skipped + frame, [.zstd]).get() == sample(1_000) + sample(1_000))
        let levels = try ShellFilter.run("zstd -19 -qc", sample(100_000))
        #expect(try decoded(levels, [.zstd]).get() == sample(100_000))
    }

    @Test func `formats that zstd had before it was standardized are refused, byte by byte`() throws {
        // The format of Zstandard 0.7; libzstd may still have a decoder for it.
        let old: [UInt8] = [0x27, 0xB5, 0x2F, 0xFD, 0x64, 0x54, 0xC5, 0, 0, 0]
        let frame = try Encoder.zstd.encode(sample(10))
        let refused = ContentDecodingError.corrupt(.zstd, reason: "no frame begins so")
        #expect(decoded(old, [.zstd]).error == refused)
        for bad in [[0x28, 0xB5, 0x2F, 0xFC], [0x28, 0xB5, 0x2E], [0x5F, 0x2A, 0x4D, 0x17]] as [[UInt8]] {
            #expect(decoded(bad, [.zstd]).error == refused)
            #expect(decoded(bad.indices.map { bad[$0...$0] }, [.zstd]).error == refused)
            #expect(decoded(frame + bad, [.zstd]).error == .trailingBytes(.zstd))
            #expect(decoded([frame[...]] + bad.indices.map { bad[$0...$0] }, [.zstd]).error == .trailingBytes(.zstd))
        }
    }

    @Test func `the verdict on a zstd frame is the same wherever it is cut`() throws {
        // The frame declares 1460 bytes and ends with an empty block.
        let odd: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x50, 0x2A, 0xB4, 0x04, 0x01, 0, 0]
        let whole = decoded(odd, [.zstd])
        for cut in 1..<odd.count { #expect(decoded([odd[..<cut], odd[cut...]], [.zstd]) == whole) }
    }

    @Test func `windows beyond those of the codings are refused`() throws {
        let zstd = try ShellFilter.run("zstd --long=27 -qc --no-content-size", sample(1_000))
        let error = decoded(zstd, [.zstd]).error
        #expect(error == .corrupt(.zstd, reason: "Frame requires too much memory for decoding"))
        let br = try ShellFilter.run("brotli -c --large_window=26", sample(1_000))
        guard case .corrupt(.br, _) = decoded(br, [.br]).error else {
            Issue.record("a large window passed")
            return
        }
    }

    @Test(arguments: Encoder.allCases)
    func `bytes behind the end are an error`(encoder: Encoder) throws {
        let coded = try encoder.encode(sample(100))
        for rest in [[0], Array("more of it".utf8)] as [[UInt8]] {
            let error = ContentDecodingError.trailingBytes(encoder.coding)
            #expect(decoded([coded[...], rest[...]], [encoder.coding]).error == error)
            #expect(decoded(coded + rest, [encoder.coding]).error == error)
            #expect("\(error)" == "bytes follow the end of its \(encoder.coding) coding")
        }
    }

    @Test(arguments: Encoder.allCases)
    func `a coding that is cut off is an error wherever it is cut`(encoder: Encoder) throws {
        let coded = try encoder.encode(sample(300))
        for count in 1..<coded.count {
            #expect(
                decoded(Array(coded[..<count]), [encoder.coding]).error == .truncated(encoder.coding), "\(count) bytes")
        }
        #expect("\(ContentDecodingError.truncated(.br))" == "its br coding is cut off")
    }

    @Test func `an inner coding that is cut off is an error`() throws {
        let inner = try Encoder.gzip.encode(sample(300))
        let coded = try Encoder.zstd.encode(Array(inner.dropLast()))
        #expect(decoded(coded, [.gzip, .zstd]).error == .truncated(.gzip))
    }

    @Test func `zlib's reason is told`() throws {
        var coded = try Encoder.gzip.encode(sample(300))
        coded[coded.count - 8] ^= 1
        let error = decoded(coded, [.gzip]).error
        #expect(error == .corrupt(.gzip, reason: "incorrect data check"))
        #expect(error.map { "\($0)" } == "its gzip coding is broken: incorrect data check")
        #expect(
            decoded([0x78, 0xBB, 0, 0, 0, 0] as [UInt8], [.deflate]).error
                == .corrupt(.deflate, reason: "it needs a dictionary"))
    }
}
