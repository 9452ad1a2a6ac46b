// SPDX-License-Identifier: Apache-2.0

import PintleImage
import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

/// The serializer that gives bitmaps.
@Suite struct ImageInflationTests {
    private let decoder: ImageDecoder

    init() throws { self.decoder = try ImageDecoder() }

    private func decode(
        _ serializer: ImageResponseSerializer, _ body: [UInt8], _ type: String = "image/png", status: UInt16 = 200
    ) throws(ValidationError) -> ImageResponseSerializer.Image? {
        let head = ResponseHead(status: status, fields: ["Content-Type": type])
        return try serializer.decode(head, body: body, requestMethod: "GET")
    }

    @Test func `IMG-01 an image has its pixels, and a size in points`() throws {
        let serializer = ImageResponseSerializer(decoder: self.decoder, scale: 2)
        let image = try #require(try self.decode(serializer, ImageSamples.png))
        #expect(image.size == ImageSize(width: 3, height: 2) && image.scale == 2)
        #expect(image.width == 1.5 && image.height == 1 && image.bytes == ImageSamples.png)
        #expect(image.pixels?.bitmap.size == image.size)
        #expect(try image.inflated() == image.pixels)
    }

    @Test func `IMG-04 an image of more than 1024 × 1024 pixels is inflated when that is asked`() throws {
        let serializer = ImageResponseSerializer(decoder: self.decoder)
        let square = try MadeImage.convert("gradient: png:-", size: "1024x1024")
        #expect(try self.decode(serializer, square)?.pixels != nil)
        let larger = try #require(
            try self.decode(serializer, try MadeImage.convert("gradient: png:-", size: "1025x1024")))
        #expect(larger.pixels == nil && larger.size.width == 1025)
        #expect(try larger.inflated().bitmap.size == larger.size)
        var all = serializer
        all.inflationLimit = .max
        #expect(try self.decode(all, larger.bytes)?.pixels == larger.inflated())
        let deep = try MadeImage.convert("-depth 16 plasma: png:-")
        #expect(try self.decode(serializer, deep)?.pixels?.bitmap.pixels.count == 4 * 37 * 23)
    }

    @Test func `IMG-04 an image need not be inflated`() throws {
        let serializer = ImageResponseSerializer(decoder: self.decoder, inflates: false)
        let image = try #require(try self.decode(serializer, ImageSamples.gif, "image/gif"))
        #expect(image.pixels == nil && image.size == ImageSize(width: 1, height: 1))
        #expect(try image.inflated().bitmap.pixels.count == 4)
        let checked = try #require(try self.decode(ImageResponseSerializer(checker: self.decoder), ImageSamples.png))
        #expect(checked.pixels == nil && checked.scale == 1)
        #expect(try checked.inflated().bitmap.size == checked.size)
        struct Anything: ImageChecking {
            func check(_ bytes: [UInt8]) throws(ImageError) -> ImageSize { ImageSize(width: 1, height: 1) }
        }
        let unknown = try #require(try self.decode(ImageResponseSerializer(checker: Anything()), [1]))
        let error = #expect(throws: ImageError.self) { try unknown.inflated() }
        #expect(error?.code == .unavailable)
    }

    @Test func `IMG-05 an animated image has its frames`() throws {
        let serializer = ImageResponseSerializer(decoder: self.decoder)
        let image = try #require(try self.decode(serializer, ImageSamples.animation, "image/gif"))
        let pixels = try #require(image.pixels)
        #expect(pixels.isAnimated && pixels.frames.count == 2 && image.size == ImageSize(width: 3, height: 2))
        #expect(pixels.frames.map(\.duration) == [.milliseconds(100), .milliseconds(100)])
    }

    @Test func `IMG-02 IMG-03 other types and broken images are violations`() throws {
        let serializer = ImageResponseSerializer(decoder: self.decoder)
        let wrong = #expect(throws: ValidationError.self) { try self.decode(serializer, [1], "image/webp") }
        #expect(wrong?.kind == .responseContentType)
        for body in [[], [1], Array(ImageSamples.png.dropLast(20)), ImageSamples.animation.dropLast(10)] as [[UInt8]] {
            let error = #expect(throws: ValidationError.self) { try self.decode(serializer, body) }
            #expect(error?.kind == .responseBody && error?.message.hasPrefix("Request failed: invalid image: ") == true)
        }
        let large = ImageResponseSerializer(decoder: try ImageDecoder(pixelLimit: 5))
        let error = #expect(throws: ValidationError.self) { try self.decode(large, ImageSamples.png) }
        #expect(error?.message.hasSuffix("3 × 2 pixels are more than the 5 that are accepted") == true)
        #expect(try self.decode(serializer, [], "image/png", status: 204) == nil)
    }

    @Test func `IMG-06 images are inflated in many tasks at once`() async throws {
        let images = try MadeImage.allCases.map { try $0.make() }
        let decoder = self.decoder
        let expected = try images.map { try decoder.pixels(of: $0) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for round in 0..<80 {
                let number = round % images.count
                group.addTask { try decoder.pixels(of: images[number]) == expected[number] }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }

    @Test func `IMG-07 copies keep scale, inflation and decoder`() throws {
        let serializer = ImageResponseSerializer(decoder: self.decoder, scale: 1.5, inflates: false, inflationLimit: 7)
        var copy = serializer
        #expect(copy == serializer && copy.scale == 1.5 && !copy.inflates && copy.inflationLimit == 7)
        copy.inflates = true
        #expect(copy != serializer)
        copy = serializer
        copy.scale = 3
        #expect(copy != serializer && serializer.scale == 1.5)
        copy = serializer
        copy.rule = .init(try ImageDecoder(pixelLimit: 1))
        #expect(copy != serializer)
        let image = try self.decode(serializer, ImageSamples.png)
        #expect(image == (try self.decode(serializer, ImageSamples.png)))
        #expect(image != (try self.decode(copy.scaled(3), ImageSamples.png)))
    }
}

extension ImageResponseSerializer {
    fileprivate func scaled(_ scale: Double) throws -> ImageResponseSerializer {
        ImageResponseSerializer(decoder: try ImageDecoder(), scale: scale, inflates: false)
    }
}
