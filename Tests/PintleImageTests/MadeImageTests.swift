// SPDX-License-Identifier: Apache-2.0

import PintleImage
import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct MadeImageTests {
    @Test(arguments: MadeImage.allCases)
    func `IMG-01 IMG-08 what ImageMagick makes is decoded under each of its types`(image: MadeImage) throws {
        let serializer = ImageResponseSerializer(checker: try ImageDecoder())
        let bytes = try image.make()
        for type in image.mediaTypes {
            let head = ResponseHead(status: 200, fields: ["Content-Type": type])
            let decoded = try serializer.decode(head, body: bytes, requestMethod: "GET")
            #expect(decoded?.size == MadeImage.size && decoded?.bytes == bytes)
        }
    }

    @Test func `IMG-08 every media type of images has a format`() {
        #expect(Set(MadeImage.allCases.flatMap(\.mediaTypes)) == ResponseContract.imageTypes)
    }

    @Test(arguments: [
        "-depth 16 plasma: png:-", "gradient: -colorspace CMYK jpeg:-", "gradient: -monochrome png:-",
        "plasma: -compress none tiff:-", "plasma: -compress Zip tiff:-", "plasma: -compress RLE bmp:-",
        "plasma: -colors 4 bmp3:-", "plasma: -alpha set -channel A -evaluate set 50% png:-",
        "-delay 10 plasma: plasma: gradient: gif:-",
        "gradient: -define jpeg:arithmetic-coding=off -interlace Plane jpeg:-",
    ])
    func `kinds of formats are decoded`(arguments: String) throws {
        let bytes = try MadeImage.convert(arguments)
        #expect(try ImageDecoder().check(bytes) == MadeImage.size)
    }

    @Test func `of an icon with PNGs the first picture counts`() throws {
        let (png, bitmap) = (try MadeImage.png.make(), try MadeImage.ico.make())
        let decoder = try ImageDecoder()
        for pictures in [[png], [bitmap], [png, bitmap], [bitmap, png]] {
            #expect(try decoder.check(icon(of: pictures)) == MadeImage.size)
        }
        #expect(throws: ImageError.self) { try decoder.check(Array(icon(of: [png]).dropLast())) }
        #expect(throws: ImageError.self) { try decoder.check(icon(of: [Array(png.dropLast()), bitmap])) }
        #expect(throws: ImageError.self) { try decoder.check(icon(of: [Array(bitmap.dropLast(900)), png])) }
    }

    @Test(arguments: MadeImage.allCases)
    func `an image that is cut off anywhere is none`(image: MadeImage) throws {
        let bytes = try image.make()
        let decoder = try ImageDecoder()
        // In an X bitmap the line end and the semicolon may be missing.
        let whole = image == .xbm ? bytes.count - 2 : bytes.count
        let stride = max(1, bytes.count / 150)
        let counts = Set(Swift.stride(from: 0, to: whole, by: stride)).union(max(0, whole - 40)..<whole)
        for count in counts.sorted() {
            let error = #expect(throws: ImageError.self, "\(count) of \(bytes.count) bytes") {
                try decoder.check(Array(bytes[..<count]))
            }
            #expect(error?.code == .undecodable)
        }
    }

    @Test(arguments: MadeImage.allCases)
    func `an image with broken bytes is another or none, and the process lives`(image: MadeImage) async {
        // A fault of the C library would end the process, so the test runs in a separate one.
        await #expect(processExitsWith: .success) { [image] in
            let bytes = try image.make()
            let decoder = try ImageDecoder(pixelLimit: 1 << 20)
            var generator = SeededGenerator(seed: 17)
            for _ in 0..<1_500 {
                var broken = bytes
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    // The first bytes say most.
                    let end = Bool.random(using: &generator) ? min(80, broken.count) : broken.count
                    broken[Int.random(in: 0..<end, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                _ = try? decoder.check(broken)
            }
        }
    }
}

extension MadeImage: Codable {}
