// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCacheTrial
import Testing

@testable import PintleCacheStore

/// The form of a body's file, which other versions of Pintle will read.
@Suite struct BodyLayoutTests {
    private static let header = BodyHeader(generation: 0x0102_0304_0506_0708, id: 7)

    private static func file(_ body: [UInt8]) -> [UInt8] {
        var encoder = BodyEncoder(header: self.header)
        var file = self.header.bytes
        body.withUnsafeBytes { encoder.encode($0, into: &file) }
        encoder.finish(into: &file)
        return file
    }

    private static func read(_ file: [UInt8], _ length: UInt64, at offset: UInt64 = 0) -> [UInt8]? {
        BodyLayout(header: self.header, length: length)?.piece(at: offset, upTo: .max) { place, space in
            let stored = file.dropFirst(Int(clamping: place)).prefix(space.count)
            Array(stored).withUnsafeBytes { space.copyMemory(from: $0) }
            return stored.count
        }.map { Array($0.readableBytesView) }
    }

    @Test func `a file is these bytes`() {
        let header: [UInt8] = [
            0x50, 0x6e, 0x74, 0x6c, 0x42, 0x6f, 0x64, 0x79, 0x01, 0x00, 0x00, 0x00, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03,
            0x02, 0x01, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xca, 0x68, 0xd7, 0x68,
        ]
        #expect(Self.header.bytes == header && header.count == BodyHeader.byteCount)
        #expect(header.withUnsafeBytes { BodyHeader(decoding: $0) } == Self.header)
        #expect(Self.file(Array("hello".utf8)) == header + "hello".utf8 + [0x60, 0x1d, 0x99, 0x10])
        #expect(Self.file([]) == header)
    }

    @Test func `a header that is cut off, longer, of another version or changed is none`() {
        let bytes = Self.header.bytes
        func isHeader(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { BodyHeader(decoding: $0) } != nil }
        for count in 0..<bytes.count { #expect(!isHeader(Array(bytes.prefix(count)))) }
        #expect(!isHeader(bytes + [0]))
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << bit
                #expect(!isHeader(changed), "byte \(place), bit \(bit)")
            }
        }
    }

    @Test func `every bit of a small file matters`() {
        let body = TrialContent.bytes(1, count: 100)
        let file = Self.file(body)
        #expect(Self.read(file, 100) == body)
        for place in BodyHeader.byteCount..<file.count {
            for bit in 0..<8 {
                var changed = file
                changed[place] ^= 1 << bit
                #expect(Self.read(changed, 100) == nil, "byte \(place), bit \(bit)")
            }
        }
    }

    @Test func `a length that the file does not have is damage, and not a read beyond`() {
        let file = Self.file(TrialContent.bytes(1, count: 70_000))
        for length in [69_999, 70_001, 65_536, 131_072, 200_000, BodyLayout.longestBody] as [UInt64] {
            let whole = Self.read(file, length)
            let end = Self.read(file, length, at: length - 1)
            // A file with further bytes after the requested blocks still has those blocks.
            if length == 65_536 {
                #expect(whole == TrialContent.bytes(1, count: 65_536))
            } else {
                #expect(whole == nil)
            }
            #expect((end != nil) == (length == 65_536))
        }
        #expect(BodyLayout(header: Self.header, length: BodyLayout.longestBody + 1) == nil)
        #expect(BodyLayout(header: Self.header, length: .max) == nil)
        #expect(Self.read(file, 70_000, at: .max) == [])
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 1_000_000])
    func `a file has the size that is foretold`(length: Int) {
        let file = Self.file([UInt8](repeating: 1, count: length))
        #expect(UInt64(file.count) == BodyLayout.fileSize(ofLength: UInt64(length)))
    }

    // MARK: Removals

    @Test func `the end of a prefix is the least text behind all that begin so`() {
        #expect(RemovalSelection.end(of: "http://a/") == "http://a0")
        #expect(RemovalSelection.end(of: "a\u{7F}") == "a\u{80}")
        #expect(RemovalSelection.end(of: "a\u{D7FF}") == "a\u{E000}")
        #expect(RemovalSelection.end(of: "a\u{10FFFF}\u{10FFFF}") == "b")
        #expect(RemovalSelection.end(of: "\u{10FFFF}") == nil)
        #expect(RemovalSelection.end(of: "") == nil)
    }

    @Test func `texts are compared by their bytes`() {
        #expect(!RemovalSelection.url("\u{E9}").matches(url: "e\u{301}", tags: []))
        #expect(!RemovalSelection.prefix("\u{E9}").matches(url: "e\u{301}x", tags: []))
        #expect(!RemovalSelection.tag("\u{E9}").matches(url: "", tags: ["e\u{301}"]))
        #expect(RemovalSelection.prefix("").matches(url: "", tags: []))
    }
}
