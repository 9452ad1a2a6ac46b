// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleImage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct HostileImageTests {
    private static let tooLarge = "50000 × 50000 pixels are more than the 67108864 that are accepted"

    private static func error(_ bytes: [UInt8], limit: Int = 64 << 20) throws -> ImageError? {
        let decoder = try ImageDecoder(pixelLimit: limit)
        do throws(ImageError) {
            _ = try decoder.check(bytes)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Sizes

    @Test func `a bitmap whose header is said to be of 4 GiB is refused before room is made for it`() throws {
        var bytes = ImageSamples.bmp
        bytes.replaceSubrange(14..<18, with: [0x28, 0xFF, 0xFF, 0xFF])
        #expect(try Self.error(bytes) == ImageError(.undecodable, "the bmp image is cut off"))
        bytes = ImageSamples.bmp
        bytes.replaceSubrange(10..<14, with: [0x35, 0xFF, 0xFF, 0xF8])
        #expect(try Self.error(bytes) == ImageError(.undecodable, "the bmp image is cut off"))
        var icon = ImageSamples.ico
        let picture = icon[18..<22].reversed().reduce(0) { $0 << 8 | Int($1) }
        icon.replaceSubrange(picture..<picture + 4, with: [0x28, 0xFF, 0xFF, 0xFF])
        // With a compression no other field would be checked.
        icon[picture + 16] = 1
        #expect(try Self.error(icon) == ImageError(.undecodable, "the ico image is cut off"))
    }

    @Test func `a PNG that unfolds to a plain of zeros is refused by its size`() throws {
        let bytes = try ShellFilter.run(
            """
            /usr/bin/python3 -c 'import struct, sys, zlib
            def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            head, rows = struct.pack(">IIBBBBB", 50000, 50000, 1, 0, 0, 0, 0), zlib.compressobj(1)
            data = b"".join(rows.compress(bytes(6251 * 1000)) for _ in range(50)) + rows.flush()
            png = bytes([137]) + b"PNG" + bytes([13, 10, 26, 10])
            sys.stdout.buffer.write(png + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b""))'
            """)
        #expect(bytes.count < 4 << 20)
        #expect(try Self.error(bytes) == ImageError(.tooLarge, Self.tooLarge))
    }

    @Test(arguments: [
        ("chunk(b\"zTXt\", b\"k\\0\\0\" + packed)", 100, "unfold"),
        ("chunk(b\"iCCP\", b\"k\\0\\0\" + packed)", 9, "unfold"),
        ("chunk(b\"iTXt\", b\"k\\0\\1\\0en\\0k\\0\" + packed)", 100, "unfold"),
        ("chunk(b\"zTXt\", b\"k\\0\\0\" + zlib.compress(b\"x\"))", 300, "256"),
    ])
    func `LOOK-102 compressed texts of a PNG are counted before they are unpacked`(
        chunk: String, count: Int, word: String
    ) throws {
        let bytes = try ShellFilter.run(
            """
            /usr/bin/python3 -c 'import struct, sys, zlib
            def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            packed = zlib.compress(bytes(1000000), 9)
            png = bytes([137]) + b"PNG" + bytes([13, 10, 26, 10]) + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
            data = chunk(b"IDAT", zlib.compress(bytes(2))) + chunk(b"IEND", b"")
            sys.stdout.buffer.write(png + \(chunk) * \(count) + data)'
            """)
        let error = try Self.error(bytes)
        #expect(error?.code == .tooLarge && error?.message.contains(word) == true, "\(String(describing: error))")
    }

    @Test func `LOOK-102 an image with a few compressed texts is decoded`() throws {
        let bytes = try ShellFilter.run(
            """
            /usr/bin/python3 -c 'import struct, sys, zlib
            def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            png = bytes([137]) + b"PNG" + bytes([13, 10, 26, 10]) + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
            text = chunk(b"zTXt", b"k\\0\\0" + zlib.compress(bytes(100000))) + chunk(b"zTXt", b"k\\0\\0broken")
            sys.stdout.buffer.write(png + text + chunk(b"IDAT", zlib.compress(bytes(2))) + chunk(b"IEND", b""))'
            """)
        #expect(try Self.error(bytes) == nil)
    }

    @Test func `a GIF with a huge screen is refused by it`() throws {
        // One pixel on a screen of 65535 × 65535.
        var bytes = try MadeImage.convert("xc:red gif:-", size: "1x1")
        bytes.replaceSubrange(6..<10, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try Self.error(bytes)?.code == .tooLarge)
    }

    @Test func `a GIF whose frame is larger than its screen takes no memory for it`() async throws {
        var bytes = try MadeImage.convert("xc:red gif:-", size: "1x1")
        let frame = try #require(bytes.firstRange(of: [0x2C, 0, 0, 0, 0, 1, 0, 1, 0])).lowerBound
        bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        try await Self.expectSmall(bytes)
    }

    @Test(arguments: [MadeImage.bmp, .tiff, .ico, .jpeg, .progressive, .xbm])
    func `a huge size in a small file takes no memory`(image: MadeImage) async throws {
        var bytes = try image.make()
        switch image {
        case .bmp: bytes.replaceSubrange(18..<26, with: little(50_000, 4) + little(50_000, 4))
        case .ico:
            // Width and twice the height, in the header of the bitmap after the directory.
            bytes.replaceSubrange(26..<34, with: little(50_000, 4) + little(100_000, 4))
        case .tiff:
            let directory = Int(bytes[4]) | Int(bytes[5]) << 8
            for index in 0..<2 {
                let entry = directory + 2 + index * 12
                bytes.replaceSubrange(entry + 2..<entry + 12, with: little(4, 2) + little(1, 4) + little(50_000, 4))
            }
        case .jpeg, .progressive:
            let mark: [UInt8] = image == .jpeg ? [0xFF, 0xC0] : [0xFF, 0xC2]
            let frame = try #require(bytes.firstRange(of: mark)).lowerBound
            bytes.replaceSubrange(frame + 5..<frame + 9, with: big(50_000, 2) + big(50_000, 2))
        case .xbm:
            let text = String(decoding: bytes, as: UTF8.self)
            bytes = Array(text.replacingOccurrences(of: "37", with: "50000").replacing("23\n", with: "50000\n").utf8)
        case .png, .gif: break
        }
        try await Self.expectSmall(bytes)
    }

    @Test func `a PNG in an icon is held to the limit`() throws {
        let error = try Self.error(icon(of: [ImageSamples.largePNG]))
        #expect(error?.message == "30000 × 30000 pixels are more than the 67108864 that are accepted")
    }

    @Test func `a JPEG of very many scans is refused before it is decoded`() throws {
        let bytes = try MadeImage.progressive.make()
        let scan = try #require(bytes.lastRange(of: [0xFF, 0xDA])).lowerBound
        let scans = [[UInt8]](repeating: Array(bytes[scan..<bytes.count - 2]), count: 200).joined()
        let error = try Self.error(bytes[..<scan] + scans + [0xFF, 0xD9])
        #expect(error?.code == .tooLarge)
        #expect(error?.message.hasSuffix(" scans are more than the 100 that are accepted") == true)
    }

    // MARK: Files

    @Test(arguments: ["bmp", "tiff", "png"])
    func `a file of 200 MiB takes as much memory again and no more`(format: String) async {
        await #expect(processExitsWith: .success) { [format] in
            // 4000 × 4000 pixels of three bytes, followed by filler.
            var bytes = try MadeImage.convert(
                "xc:gray -type TrueColor -compress none -quality 0 \(format):-", size: "4000x4000")
            if bytes.count < 200 << 20 { bytes += [UInt8](repeating: 0, count: (200 << 20) - bytes.count) }
            let before = try HostileImageTests.peakMemory()
            #expect(try ImageDecoder().check(bytes) == ImageSize(width: 4_000, height: 4_000))
            #expect(try HostileImageTests.peakMemory() - before < 500 << 10)
        }
    }

    @Test(
        arguments: [
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8),
            Array("II*\0".utf8),
        ] as [[UInt8]])
    func `200 MiB that only begin as an image are none`(start: [UInt8]) throws {
        #expect(try Self.error(start + [UInt8](repeating: 0, count: 200 << 20))?.code == .undecodable)
    }

    /// Decodes in a separate process, which must neither crash nor need much memory.
    private static func expectSmall(_ bytes: [UInt8]) async throws {
        await #expect(processExitsWith: .success) { [bytes] in
            let decoder = try ImageDecoder()
            let before = try HostileImageTests.peakMemory()
            #expect(throws: ImageError.self) { try decoder.check(bytes) }
            #expect(try HostileImageTests.peakMemory() - before < 64 << 10)
        }
    }

    /// KiB.
    static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
}

extension Array where Element == UInt8 {
    func lastRange(of part: [UInt8]) -> Range<Int>? { self.ranges(of: part).last }
}
