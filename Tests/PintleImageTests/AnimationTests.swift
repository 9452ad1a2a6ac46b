// SPDX-License-Identifier: Apache-2.0

import PintleImage
import PintleSerialization
import PintleTesting
import Testing

/// Animated GIFs.
@Suite struct AnimationTests {
    private static func pixels(_ bytes: [UInt8], limit: Int = 1 << 20) throws(ImageError) -> ImagePixels {
        try ImageDecoder(pixelLimit: limit).pixels(of: bytes)
    }

    private static func problem(_ bytes: [UInt8], limit: Int = 1 << 20) -> ImageError? {
        do throws(ImageError) {
            _ = try self.pixels(bytes, limit: limit)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Animations that ImageMagick makes

    @Test(arguments: [
        "-delay 10 plasma: plasma: gradient: -loop 0", "-delay 5 plasma: -delay 300 gradient: -loop 3",
        "-dispose none -delay 1 plasma: ( xc:red -resize 10x10! -repage +5+7 ) ( xc:blue -resize 9x4! -repage +8+2 )",
        "-dispose background -delay 1 plasma: ( xc:red -resize 10x10! -repage +5+7 ) ( xc:blue -resize 3x4! -repage +30+2 )",
        "-dispose none plasma: -dispose previous -delay 1 ( xc:red -resize 10x10! -repage +5+7 ) ( xc:blue -resize 9x4! -repage +8+2 )",
        "-dispose none plasma: -dispose previous ( xc:red -resize 10x10! -repage +5+7 ) "
            + "-dispose background ( xc:none -resize 20x9! -repage +1+1 ) -dispose none ( xc:lime -resize 2x2! -repage +0+0 )",
        "plasma: plasma: plasma: -layers optimize -loop 0", "-interlace GIF plasma: gradient: plasma:",
        "-delay 2 gradient:none-red ( -size 5x5 gradient:none-blue -repage +3+3 ) gradient:red-none",
    ])
    func `IMG-05 an animation has the frames that another reader finds`(arguments: String) throws {
        let quoted = arguments.replacing("(", with: "\\(").replacing(")", with: "\\)").replacing("!", with: "\\!")
        let bytes = try MadeImage.convert("\(quoted) gif:-")
        let pixels = try Self.pixels(bytes)
        let size = pixels.bitmap.size
        let reference = try ShellFilter.run("/usr/bin/convert gif:- -coalesce -depth 8 rgba:-", bytes)
        let frame = size.width * size.height * 4
        #expect(pixels.isAnimated && reference.count == pixels.frames.count * frame)
        for (number, start) in stride(from: 0, to: reference.count, by: frame).enumerated() {
            let theirs = BitmapTests.seen(Array(reference[start..<start + frame]))
            let ours = BitmapTests.seen(pixels.frames[number].bitmap.pixels)
            #expect(ours == theirs, "frame \(number)")
        }
        let times = try ShellFilter.run("/usr/bin/identify -format '%T ' gif:-", bytes)
        let delays = String(decoding: times, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        #expect(pixels.frames.map(\.duration) == delays.map { .milliseconds(10 * $0) })
    }

    @Test(arguments: [("-loop 0", nil), ("-loop 1", 1), ("-loop 5", 5), ("-loop 65535", 65_535)] as [(String, Int?)])
    func `an animation says how often it is played`(option: String, count: Int?) throws {
        let bytes = try MadeImage.convert("-delay 7 plasma: plasma: \(option) gif:-")
        #expect(try Self.pixels(bytes).loopCount == count)
        #expect(try Self.pixels(ImageSamples.animation).loopCount == 1)
    }

    @Test(arguments: ["plasma:", "xc:red", "gradient: -colors 2", "gradient: -colors 3", "plasma: -colors 200"])
    func `pictures of many sizes and colours are unpacked`(kind: String) throws {
        for size in ["1x1", "2x700", "613x1", "200x300"] {
            let bytes = try MadeImage.convert("\(kind) gif:-", size: size)
            let reference = try ShellFilter.run("/usr/bin/convert gif:- -depth 8 rgba:-", bytes)
            #expect(try Self.pixels(bytes).bitmap.pixels == reference, "\(size)")
        }
    }

    // MARK: Files by hand

    /// A GIF of two by two pixels with colours black, white, yellow and red.
    private static func gif(_ blocks: [[UInt8]], width: Int = 2, height: Int = 2, flags: UInt8 = 0x81) -> [UInt8] {
        let colours: [UInt8] = flags & 0x80 == 0 ? [] : [0, 0, 0, 255, 255, 255, 255, 255, 0, 255, 0, 0]
        return Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [flags, 0, 0] + colours
            + blocks.joined() + [0x3B]
    }

    /// A picture with uncompressed values: each is a code of three bits, and after every two of them the code table is
    /// cleared.
    private static func picture(
        _ values: [UInt8], left: Int = 0, top: Int = 0, width: Int = 2, height: Int = 2, flags: UInt8 = 0,
        end: [UInt8] = [5]
    ) -> [UInt8] {
        var codes: [UInt8] = []
        for (index, value) in values.enumerated() { codes += index % 2 == 0 ? [4, value] : [value] }
        var (bits, count, packed) = (0, 0, [UInt8]())
        for code in codes + end {
            bits |= Int(code) << count
            count += 3
            while count >= 8 {
                packed.append(UInt8(bits & 0xFF))
                bits >>= 8
                count -= 8
            }
        }
        if count > 0 { packed.append(UInt8(bits)) }
        let place = little(left, 2) + little(top, 2) + little(width, 2) + little(height, 2)
        return [0x2C] + place + [flags, 2, UInt8(packed.count)] + packed + [0]
    }

    private static let whole = Self.picture([0, 1, 2, 3])

    private static func control(_ flags: UInt8, _ delay: Int = 0, _ transparent: UInt8 = 0) -> [UInt8] {
        [0x21, 0xF9, 4, flags] + little(delay, 2) + [transparent, 0]
    }

    /// The frames by their colours.
    private static func colours(_ bytes: [UInt8]) throws -> [String] {
        try self.pixels(bytes).frames.map { frame in
            stride(from: 0, to: frame.bitmap.pixels.count, by: 4).map { start in
                switch Array(frame.bitmap.pixels[start..<start + 4]) {
                case [0, 0, 0, 255]: "k"
                case [255, 255, 255, 255]: "w"
                case [255, 255, 0, 255]: "y"
                case [255, 0, 0, 255]: "r"
                case [0, 0, 0, 0]: "."
                default: "?"
                }
            }.joined()
        }
    }

    @Test func `frames are drawn over each other, and taken away as they say`() throws {
        let corner = Self.picture([3], left: 1, top: 1, width: 1, height: 1)
        let row = Self.picture([0, 0], width: 2, height: 1)
        #expect(try Self.colours(Self.gif([Self.whole])) == ["kwyr"])
        #expect(try Self.colours(Self.gif([corner])) == ["...r"])
        #expect(try Self.colours(Self.gif([Self.whole, row, corner])) == ["kwyr", "kkyr", "kkyr"])
        #expect(try Self.colours(Self.gif([Self.whole, Self.control(0x08), row, corner])) == ["kwyr", "kkyr", "..yr"])
        #expect(try Self.colours(Self.gif([Self.whole, Self.control(0x0C), row, corner])) == ["kwyr", "kkyr", "kwyr"])
        #expect(try Self.colours(Self.gif([Self.control(0x0C), Self.whole, corner])) == ["kwyr", "...r"])
        // A control holds for one picture.
        #expect(
            try Self.colours(Self.gif([Self.whole, Self.control(0x01, 0, 0), row, row])) == ["kwyr", "kwyr", "kkyr"])
    }

    @Test func `what lies outside of the screen is not seen`() throws {
        let around = Self.picture([3, 3, 3, 3], left: 1, top: 1)
        #expect(
            try Self.colours(Self.gif([Self.whole, Self.control(0x08), around, around])) == ["kwyr", "kwyr", "kwyr"])
        #expect(
            try Self.colours(Self.gif([Self.control(0x08), around, Self.control(0x08), around])) == ["...r", "...r"])
        let away = Self.picture([1], left: 65_535, top: 7, width: 1, height: 1)
        #expect(
            try Self.colours(Self.gif([Self.whole, Self.control(0x08), away, Self.control(0x0C), away])).last == "kwyr")
        let large = Self.picture([UInt8](repeating: 2, count: 300), width: 30, height: 10)
        #expect(try Self.colours(Self.gif([large])) == ["yyyy"])
        #expect(Self.problem(Self.gif([large]), limit: 299)?.code == .tooLarge)
    }

    @Test func `rows that come interlaced are put in their places`() throws {
        let height = 11
        let order = [0, 8, 4, 2, 6, 10, 1, 3, 5, 7, 9]
        let values = order.map { UInt8($0 % 4) }
        let bytes = Self.gif([Self.picture(values, width: 1, height: height, flags: 0x40)], width: 1, height: height)
        #expect(try Self.colours(bytes) == [String((0..<height).map { Array("kwyr")[$0 % 4] })])
    }

    @Test func `durations, own colours and blocks that mean nothing are read`() throws {
        let own = Self.picture([0, 1, 0, 1], flags: 0x80)
        let coloured = own[..<10] + [255, 0, 0, 255, 255, 0] + own[10...]
        let comment: [UInt8] = [0x21, 0xFE, 2, 65, 66, 1, 67, 0]
        let loop: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 2, 0, 0]
        let other: [UInt8] = [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + [3, 1, 9, 0, 0]
        let text: [UInt8] = [0x21, 0x01, 12] + [UInt8](repeating: 0, count: 12) + [1, 65, 0]
        let bytes = Self.gif([comment, loop, other, Self.control(0, 12), Array(coloured), [0], text, Self.whole])
        #expect(try Self.colours(bytes) == ["ryry", "kwyr"])
        let pixels = try Self.pixels(bytes)
        #expect(pixels.frames.map(\.duration) == [.milliseconds(120), .zero] && pixels.loopCount == 3)
        let short: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [1, 1, 0]
        #expect(try Self.pixels(Self.gif([short, Self.whole])).loopCount == 1)
    }

    @Test func `a colour that there is not is black`() throws {
        let bytes = Self.gif([Self.picture([0, 1, 2, 3])], flags: 0x80)
        // Two colours, of which the second half was written for nothing: as a block it would be an error.
        let two = Array(bytes[..<19]) + bytes[25...]
        #expect(try Self.colours(two) == ["kwkk"])
    }

    // MARK: Invalid animations

    @Test func `what is broken says how`() {
        let broken = { (reason: String) in
            ImageError(.undecodable, "the gif image cannot be decoded: \(reason)")
        }
        #expect(Self.problem(Self.gif([])) == broken("it has no picture"))
        #expect(Self.problem(Self.gif([], width: 0)) == broken("it has no pixels"))
        #expect(Self.problem(Self.gif([Self.whole], flags: 0)) == broken("the picture at byte 14 has no colours"))
        #expect(Self.problem(Self.gif([[0x22]])) == broken("at byte 25 a block is due"))
        #expect(Self.problem(Self.gif([[0x21, 0xF9, 5]])) == broken("at byte 27 a length of 4 is due"))
        let none = Self.picture([], width: 0)
        #expect(Self.problem(Self.gif([none])) == broken("the picture at byte 26 has no pixels"))
        let end = broken("picture 2 has no end, or no meaning")
        #expect(Self.problem(Self.gif([Self.whole, Self.picture([0, 1, 2])])) == end)
        #expect(Self.problem(Self.gif([Self.whole, Self.picture([0, 1, 2], end: [])])) == end)
        #expect(Self.problem(Self.gif([Self.whole, Self.picture([0, 1], end: [4, 6])])) == end, "an unknown code")
        var long = Self.whole
        long[10] = 9
        #expect(Self.problem(Self.gif([Self.whole, long])) == end)
        // Values that are too many do no harm.
        #expect(Self.problem(Self.gif([Self.picture([0, 1, 2, 3, 3, 3])])) == nil)
    }

    @Test func `an animation that is cut off anywhere is none`() throws {
        let bytes = try MadeImage.convert("-delay 10 plasma: plasma: gradient: -loop 0 gif:-")
        for count in stride(from: 6, to: bytes.count, by: 7) {
            #expect(Self.problem(Array(bytes[..<count])) == ImageError(.undecodable, "the gif image is cut off"))
        }
        #expect(Self.problem(bytes + [1, 2, 3]) == nil)
    }

    // MARK: Limits

    @Test func `all frames together are held to the limit, before any is unpacked`() throws {
        let bytes = try MadeImage.convert("plasma: plasma: gradient: gif:-")
        let area = MadeImage.size.width * MadeImage.size.height
        #expect(Self.problem(bytes, limit: 3 * area) == nil)
        let error = Self.problem(bytes, limit: 3 * area - 1)
        let message = "3 frames, or more, of 37 × 23 pixels are more than the \(3 * area - 1) pixels that are accepted"
        #expect(error == ImageError(.tooLarge, message))
        // A check looks at the first picture only.
        #expect(try ImageDecoder(pixelLimit: area).check(bytes) == MadeImage.size)
    }

    @Test func `frames of one pixel count for the memory that they take`() {
        let pixel = Self.picture([0], width: 1, height: 1)
        let many = Self.gif([[UInt8]](repeating: pixel, count: 1_000), width: 1, height: 1)
        #expect(Self.problem(many, limit: 256_000) == nil)
        #expect(Self.problem(many, limit: 255_999)?.code == .tooLarge)
        #expect(Self.problem(Self.gif([pixel], width: 1, height: 1), limit: 1) == nil)
    }

    @Test func `a huge screen, or very many frames in a small file, take no memory`() async {
        await #expect(processExitsWith: .success) {
            let screen = AnimationTests.gif([AnimationTests.whole], width: 65_535, height: 65_535)
            let frames = [[UInt8]](repeating: AnimationTests.whole, count: 100_000)
            let many = AnimationTests.gif(frames, width: 3_000, height: 3_000)
            let decoder = try ImageDecoder()
            let before = try HostileImageTests.peakMemory()
            for bytes in [screen, many] {
                let error = #expect(throws: ImageError.self) { try decoder.pixels(of: bytes) }
                #expect(error?.code == .tooLarge)
            }
            #expect(try HostileImageTests.peakMemory() - before < 32 << 10)
        }
    }
}
