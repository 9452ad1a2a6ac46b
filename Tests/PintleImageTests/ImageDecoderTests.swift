// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@testable import PintleImage

@Suite struct ImageDecoderTests {
    private static let samples: [(String, [UInt8])] = [
        ("png", ImageSamples.png), ("jpeg", ImageSamples.jpeg), ("tiff", ImageSamples.tiff), ("ico", ImageSamples.ico),
        ("bmp", ImageSamples.bmp),
    ]

    private func problem(_ bytes: [UInt8], limit: Int = 100) throws -> ImageError? {
        let decoder = try ImageDecoder(pixelLimit: limit)
        do throws(ImageError) {
            _ = try decoder.check(bytes)
            return nil
        } catch {
            return error
        }
    }

    private func response(_ status: UInt16, _ type: String) -> ResponseHead {
        ResponseHead(status: status, fields: ["Content-Type": type])
    }

    @Test(arguments: ImageDecoderTests.samples)
    func `IMG-01 an image is decoded and has its size`(format: String, image: [UInt8]) throws {
        #expect(try ImageDecoder().check(image) == ImageSize(width: 3, height: 2))
        #expect(try ImageDecoder().check(image + [0, 0]) == ImageSize(width: 3, height: 2))
    }

    @Test func `LOOK-57 IMG-05 of an animation the first picture counts`() throws {
        #expect(try ImageDecoder().check(ImageSamples.animation) == ImageSize(width: 3, height: 2))
        // The second picture is there to be missed: without its end the file is cut off.
        #expect(try self.problem(ImageSamples.animation.dropLast(20))?.code == .undecodable)
        let passed = try ResponseContract(body: .image(.init(try ImageDecoder()))).validate(
            head: ResponseHead(status: 200, fields: ["Content-Type": "image/gif"]), body: ImageSamples.animation,
            requestMethod: "GET")
        #expect(passed == CheckedBody(imageSize: ImageSize(width: 3, height: 2)), "the frames stay where they are")
    }

    @Test(arguments: ImageDecoderTests.samples + [("gif", ImageSamples.gif)])
    func `an image that is cut off is none`(format: String, image: [UInt8]) throws {
        // In a PNG the last checksum matters; in a TIFF and a GIF the last byte.
        for count in 1..<image.count {
            let error = try self.problem(Array(image[..<count]))
            #expect(error?.code == .undecodable, "\(count) of \(image.count) bytes")
        }
    }

    @Test func `what is no image of a known format is refused before anybody reads it`() throws {
        let error = ImageError(.undecodable, "the bytes are no PNG, JPEG, GIF, TIFF, BMP, icon or X bitmap")
        for text in ["", "P6 1 1 255 abc", "<svg/>", "GIF86a", "\0\0\u{2}", "RIFF....WEBP"] {
            #expect(try self.problem(Array(text.utf8)) == error)
        }
    }

    @Test func `a broken image says what is wrong with it`() throws {
        var image = ImageSamples.png
        image[20] ^= 1
        let error = try self.problem(image)
        #expect(error?.code == .undecodable)
        #expect(error?.message.hasPrefix("the png image cannot be decoded: ") == true)
        #expect(try self.problem(Array(image[..<60])) == ImageError(.undecodable, "the png image is cut off"))
    }

    @Test(arguments: ImageDecoderTests.samples)
    func `an image of too many pixels is refused by its size`(format: String, image: [UInt8]) throws {
        let error = ImageError(.tooLarge, "3 × 2 pixels are more than the 5 that are accepted")
        #expect(try self.problem(image, limit: 5) == error)
        #expect(try self.problem(image, limit: 6) == nil)
    }

    @Test func `a small file of very many pixels is refused before memory is taken`() throws {
        let decoder = try ImageDecoder()
        let error = ImageError(.tooLarge, "30000 × 30000 pixels are more than the 67108864 that are accepted")
        #expect(throws: error) { try decoder.check(ImageSamples.largePNG) }
        #expect(try self.problem(ImageSamples.gif, limit: 0)?.code == .tooLarge)
    }

    @Test func `IMG-06 images are decoded in many tasks at once`() async throws {
        let decoder = try ImageDecoder()
        try await withThrowingTaskGroup(of: ImageSize.self) { group in
            for index in 0..<200 {
                group.addTask { try decoder.check(Self.samples[index % Self.samples.count].1) }
            }
            for try await size in group { #expect(size == ImageSize(width: 3, height: 2)) }
        }
    }

    @Test func `a library that is missing is named with its package`() {
        let error = #expect(throws: ImageError.self) { try PixbufLibrary(named: "libpintle-has-none.so.0") }
        #expect(error?.code == .unavailable)
        let start = "images are decoded with gdk-pixbuf, which is not installed (Debian: libgdk-pixbuf-2.0-0): "
        #expect(error?.message.hasPrefix(start + "there is no libpintle-has-none.so.0") == true)
    }

    // MARK: Responses

    @Test func `IMG-01 IMG-02 the serializer gives image and size, and refuses other types`() throws {
        let serializer = ImageResponseSerializer(checker: try ImageDecoder())
        let image = try serializer.decode(
            self.response(200, "image/png"), body: ImageSamples.png, requestMethod: "GET")
        #expect(image?.bytes == ImageSamples.png)
        #expect(image?.size == ImageSize(width: 3, height: 2))
        #expect(try serializer.decode(self.response(204, "a/b"), body: [], requestMethod: "GET") == nil)
        #expect {
            try serializer.decode(self.response(200, "image/webp"), body: [1], requestMethod: "GET")
        } throws: {
            ($0 as? ValidationError)?.chain.map(\.kind) == [.responseContentType]
        }
    }

    @Test func `IMG-03 what cannot be decoded is a violation, nothing too`() throws {
        let contract = ResponseContract(
            acceptableContentTypes: ResponseContract.imageTypes, body: .image(.init(try ImageDecoder())))
        let head = self.response(200, "image/png")
        let checked = try contract.validate(head: head, body: ImageSamples.png, requestMethod: "GET")
        #expect(checked == CheckedBody(imageSize: ImageSize(width: 3, height: 2)))
        for body in [[], [0x42], Array(ImageSamples.png.dropLast(20))] as [[UInt8]] {
            #expect {
                try contract.validate(head: head, body: body, requestMethod: "GET")
            } throws: {
                let error = $0 as? ValidationError
                return error?.kind == .responseBody
                    && error?.message.hasPrefix("Request failed: invalid image: ") == true
            }
        }
        #expect(contract.bodyNeed(for: head, requestMethod: "GET") == .whole)
    }

    @Test(arguments: ResponseContract.imageTypes.sorted())
    func `IMG-08 the types of images are accepted`(type: String) throws {
        let serializer = ImageResponseSerializer(checker: try ImageDecoder())
        let image = try serializer.decode(self.response(200, type), body: ImageSamples.bmp, requestMethod: "GET")
        #expect(image?.size == ImageSize(width: 3, height: 2))
    }

    @Test func `IMG-07 copies and rules are equal when limits are`() throws {
        struct Anything: ImageChecking {
            func check(_ bytes: [UInt8]) throws(ImageError) -> ImageSize { ImageSize(width: 1, height: 1) }
        }
        let serializer = ImageResponseSerializer(checker: try ImageDecoder(pixelLimit: 5))
        var copy = serializer
        #expect(copy == serializer)
        copy.rule = .init(try ImageDecoder(pixelLimit: 6))
        #expect(copy != serializer)
        copy.rule = .init(Anything())
        #expect(copy != serializer)
        #expect(copy.contract.body == .image(.init(Anything())))
        #expect(ResponseContract.BodyRule.image(.init(Anything())) != .any)
    }
}
