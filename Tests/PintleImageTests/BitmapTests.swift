// SPDX-License-Identifier: Apache-2.0

import PintleImage
import PintleSerialization
import PintleTesting
import Testing

/// Pixels, compared with those that ImageMagick reads.
@Suite struct BitmapTests {
    /// Returns ImageMagick's decoding of an image: four bytes for each pixel.
    private static func reference(_ image: [UInt8], _ options: String = "") throws -> [UInt8] {
        // An icon begins with no bytes by which ImageMagick recognizes it.
        let input = image.starts(with: [0, 0, 1, 0]) ? "ico:-" : "-"
        return try ShellFilter.run("/usr/bin/convert \(input) \(options) -depth 8 rgba:-", image)
    }

    /// The largest difference between two rows of bytes.
    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left.count == right.count ? zip(left, right).map { abs(Int($0) - Int($1)) }.max() ?? 0 : .max
    }

    @Test(arguments: MadeImage.allCases)
    func `IMG-01 the pixels of an image are those that another reader finds`(image: MadeImage) throws {
        let bytes = try image.make()
        let decoded = try ImageDecoder().decode(bytes, inflatingUpTo: .max)
        let pixels = try #require(decoded.pixels)
        #expect(decoded.size == MadeImage.size && pixels.bitmap.size == MadeImage.size && !pixels.isAnimated)
        #expect(pixels.frames.map(\.duration) == [.zero] && pixels.loopCount == 1 && pixels.orientation == .up)
        #expect(pixels.bitmap.rowBytes == 37 * 4)
        // Sixteen bits may be rounded either way.
        let allowed =
            switch image {
            case .jpeg, .progressive: 2
            case .png, .tiff: 1
            case .gif, .bmp, .ico, .xbm: 0
            }
        #expect(Self.difference(pixels.bitmap.pixels, try Self.reference(bytes)) <= allowed)
    }

    @Test(arguments: [
        "plasma: -alpha set -channel A -evaluate set 50% -depth 8 png:-", "gradient: -monochrome png:-",
        "gradient: -depth 8 png:-", "-depth 16 plasma: png:-", "plasma: -type Palette -depth 8 png:-",
        "plasma: -depth 8 -compress none tiff:-",
        "plasma: -alpha set -channel A -evaluate set 25% ico:-", "plasma: -colors 4 bmp3:-",
        "plasma: -transparent red -interlace GIF gif:-", "gradient: gif:-", "xc:white -type bilevel gif:-",
    ])
    func `kinds of formats have their pixels, with alpha`(arguments: String) throws {
        let bytes = try MadeImage.convert(arguments)
        let pixels = try ImageDecoder().pixels(of: bytes)
        // The colour of an invisible pixel has no meaning.
        let (ours, theirs) = (pixels.bitmap.pixels, try Self.reference(bytes))
        #expect(Self.difference(Self.seen(ours), Self.seen(theirs)) <= (arguments.contains("16") ? 1 : 0))
    }

    /// The pixels with those made black that are not seen.
    static func seen(_ pixels: [UInt8]) -> [UInt8] {
        pixels.indices.map { pixels[$0 | 3] == 0 ? 0 : pixels[$0] }
    }

    @Test func `an X bitmap is black on white, in numbers of eight bits or sixteen`() throws {
        let text = "#define a_width 10\n#define a_height 2\n"
        let eight = try ImageDecoder().pixels(of: Array("\(text)static char a[] = {1,2,0x80,0};".utf8)).bitmap
        let sixteen = try ImageDecoder().pixels(of: Array("\(text)static short a[] = {0x201,0x80};".utf8)).bitmap
        #expect(eight == sixteen)
        let black = (0..<2).flatMap { row in (0..<10).filter { eight[$0, row]?.red == 0 }.map { [$0, row] } }
        #expect(black == [[0, 0], [9, 0], [7, 1]])
        #expect(
            eight[3, 1] == Bitmap.Pixel(red: 255, green: 255, blue: 255) && eight[10, 0] == nil && eight[0, -1] == nil)
    }

    @Test func `a bitmap has four bytes for each pixel`() {
        let size = ImageSize(width: 2, height: 1)
        #expect(Bitmap(size: size, pixels: [1, 2, 3, 4, 5, 6, 7, 8])?[1, 0]?.alpha == 8)
        for count in [0, 7, 9, 12] { #expect(Bitmap(size: size, pixels: [UInt8](repeating: 0, count: count)) == nil) }
        #expect(Bitmap(size: ImageSize(width: .max, height: 4), pixels: []) == nil)
        #expect(Bitmap(size: ImageSize(width: -1, height: -1), pixels: [0, 0, 0, 0]) == nil)
        #expect(ImagePixels(frames: []) == nil)
    }

    // MARK: Orientation

    /// A JPEG with an Exif segment that says how it has to be turned.
    private static func jpeg(_ orientation: Int) throws -> [UInt8] {
        let jpeg = try MadeImage.convert("gradient:red-blue -rotate 20 +repage -quality 100 jpeg:-")
        let entry = big(0x112, 2) + big(3, 2) + big(1, 4) + big(orientation, 2) + big(0, 2)
        let exif = Array("Exif\0\0MM\0*".utf8) + big(8, 4) + big(1, 2) + entry + big(0, 4)
        return jpeg[..<2] + [0xFF, 0xE1] + big(exif.count + 2, 2) + exif + jpeg[2...]
    }

    @Test(arguments: ImageOrientation.allCases)
    func `a picture says how it has to be turned, and is turned when that is asked`(
        orientation: ImageOrientation
    ) throws {
        let bytes = try Self.jpeg(orientation.rawValue)
        let pixels = try ImageDecoder().pixels(of: bytes)
        #expect(pixels.orientation == orientation)
        let upright = pixels.bitmap.upright(from: orientation)
        let size = pixels.bitmap.size
        #expect(
            upright.size == (orientation.swapsSides ? ImageSize(width: size.height, height: size.width) : size))
        #expect(Self.difference(upright.pixels, try Self.reference(bytes, "-auto-orient")) <= 2)
    }

    @Test func `an orientation that there is not is none`() throws {
        #expect(try ImageDecoder().pixels(of: Self.jpeg(9)).orientation == .up)
    }

    // MARK: Limits

    @Test func `pixels are let go above the ceiling, and the image is decoded all the same`() throws {
        let decoder = try ImageDecoder()
        let count = MadeImage.size.width * MadeImage.size.height
        for image in MadeImage.allCases {
            let bytes = try image.make()
            #expect(try decoder.decode(bytes, inflatingUpTo: count).pixels != nil)
            #expect(
                try decoder.decode(bytes, inflatingUpTo: count - 1) == DecodedImage(size: MadeImage.size, pixels: nil))
            #expect(throws: ImageError.self) { try decoder.decode(bytes.dropLast(20), inflatingUpTo: 0) }
            let small = try ImageDecoder(pixelLimit: count - 1)
            let error = #expect(throws: ImageError.self) { try small.decode(bytes, inflatingUpTo: .max) }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test func `what gdk-pixbuf has taken is freed`() async {
        await #expect(processExitsWith: .success) {
            let decoder = try ImageDecoder()
            let images = try ["png", "jpeg", "bmp", "gif", "tiff"].map {
                try MadeImage.convert("plasma: \($0):-", size: "500x500")
            }
            for bytes in images { _ = try decoder.pixels(of: bytes) }
            let before = try HostileImageTests.peakMemory()
            for _ in 0..<12 {
                for bytes in images { _ = try decoder.pixels(of: bytes) }
            }
            // Sixty bitmaps of one megabyte each are made.
            #expect(try HostileImageTests.peakMemory() - before < 32 << 10)
        }
    }

    @Test(arguments: MadeImage.allCases)
    func `an image with broken bytes has other pixels or none, and the process lives`(image: MadeImage) async {
        await #expect(processExitsWith: .success) { [image] in
            let bytes = try image.make()
            let decoder = try ImageDecoder(pixelLimit: 1 << 20)
            var generator = SeededGenerator(seed: 23)
            for _ in 0..<1_000 {
                var broken = bytes
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    let end = Bool.random(using: &generator) ? min(80, broken.count) : broken.count
                    broken[Int.random(in: 0..<end, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                guard let decoded = try? decoder.decode(broken, inflatingUpTo: .max) else { continue }
                #expect(decoded.pixels?.bitmap.pixels.count == 4 * decoded.size.width * decoded.size.height)
            }
        }
    }
}
