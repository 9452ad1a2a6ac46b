// SPDX-License-Identifier: Apache-2.0

import PintleImage
import PintleSerialization
import PintleTesting
import Testing

/// Small files that would have decoders work for long.
@Suite struct ImageCostTests {
    private static func error(
        _ bytes: [UInt8], limit: Int = 64 << 20, within budget: WorkBudget = .unlimited
    ) throws -> ImageError? {
        let decoder = try ImageDecoder(pixelLimit: limit)
        do throws(ImageError) {
            _ = try decoder.check(bytes, within: budget)
            return nil
        } catch {
            return error
        }
    }

    /// A TIFF in little endian whose directory comes first.
    private static func tiff(_ entries: [(tag: Int, type: Int, count: Int, value: Int)], data: [UInt8]) -> [UInt8] {
        let directory = entries.flatMap {
            little($0.tag, 2) + little($0.type, 2) + little($0.count, 4) + little($0.value, 4)
        }
        return [0x49, 0x49, 42, 0] + little(8, 4) + little(entries.count, 2) + directory + little(0, 4) + data
    }

    // MARK: TIFF

    @Test func `LOOK-09 a TIFF with a tag twice is refused`() throws {
        let bytes = try MadeImage.tiff.make()
        #expect(try Self.error(bytes) == nil)
        let directory = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        let count = Int(bytes[directory]) | Int(bytes[directory + 1]) << 8
        let entries = directory + 2..<directory + 2 + 12 * count
        // A copy of the directory, with its first entry twice, at the end of the file.
        let twice =
            little(count + 1, 2) + bytes[entries.lowerBound..<entries.lowerBound + 12] + bytes[entries] + little(0, 4)
        let changed = Array(bytes[..<4]) + little(bytes.count, 4) + bytes[8...] + twice
        #expect(try Self.error(changed)?.code == .undecodable)
    }

    @Test func `LOOK-09 a TIFF whose entries share their values is refused before they are read`() throws {
        // 65,535 entries, each with the whole file as its values.
        let entries = (0..<65_535).map { (tag: 1_000 + $0 % 64_000, type: 1, count: 700_000, value: 8) }
        #expect(try Self.error(Self.tiff(entries, data: []))?.code == .undecodable)
        let offsets = (0..<65_535).map { _ in (tag: 273, type: 3, count: 2_000, value: 8) }
        #expect(try Self.error(Self.tiff(offsets, data: [UInt8](repeating: 0, count: 9_000)))?.code == .undecodable)
    }

    @Test func `LOOK-09 a TIFF whose strips share their bytes is refused`() throws {
        let count = 1_000
        let head = 8 + 2 + 12 * 8 + 4
        let data = (0..<count).flatMap { _ in little(head, 4) } + (0..<count).flatMap { _ in little(8_000, 4) }
        let bytes = Self.tiff(
            [
                (256, 3, 1, 1), (257, 3, 1, count), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
                (273, 4, count, head), (278, 3, 1, 1), (279, 4, count, head + 4 * count),
            ], data: data)
        #expect(try Self.error(bytes)?.code == .undecodable)
    }

    @Test func `LOOK-09 a TIFF with samples that nobody sees is held to what it unpacks to`() throws {
        let bytes = Self.tiff(
            [
                (256, 4, 1, 1), (257, 4, 1, 1 << 20), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (273, 4, 1, 8),
                (277, 3, 1, 65_535), (278, 4, 1, 1 << 20), (279, 4, 1, 100),
            ], data: [])
        let error = try Self.error(bytes)
        #expect(error == ImageError(.tooLarge, "unpacked it has more than the 536870912 bytes that are accepted"))
        let tiles = Self.tiff(
            [
                (256, 4, 1, 1), (257, 4, 1, 1 << 20), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1),
                (322, 4, 1, 65_536), (323, 4, 1, 16), (324, 4, 1, 8), (325, 4, 1, 100),
            ], data: [])
        #expect(try Self.error(tiles)?.code == .tooLarge)
    }

    // MARK: Others

    @Test func `LOOK-09 a JPEG whose scans go over many pixels is refused when its size is known`() throws {
        let one = try MadeImage.convert("xc:gray -interlace JPEG -quality 10 jpeg:-", size: "2000x2000")
        let scan = try #require(one.lastRange(of: [0xFF, 0xDA])).lowerBound
        let scans = [[UInt8]](repeating: Array(one[scan..<one.count - 2]), count: 12).joined()
        // Some more than twelve scans of four megapixels, which may be gone over eight times.
        let error = try Self.error(one[..<scan] + scans + [0xFF, 0xD9], limit: 4_100_000)
        #expect(
            error
                == ImageError(.tooLarge, "its scans go over 2000 × 2000 pixels more often than is accepted"))
    }

    @Test(arguments: ["png", "gif", "bmp", "jpeg"])
    func `LOOK-09 an image is given up as soon as nobody waits for it`(format: String) throws {
        let bytes = try MadeImage.convert("plasma: \(format):-", size: "1500x1500")
        var inspections = 0
        let budget = WorkBudget(
            steps: .max,
            inspect: {
                inspections += 1
                return inspections == 3 ? .cancelled : nil
            })
        _ = try Self.error(bytes, within: budget)
        #expect(budget.interruption == .cancelled)
    }

    @Test func `LOOK-09 frames behind frames are given up, too`() throws {
        let one = try MadeImage.convert("xc:gray gif:-", size: "3000x3000")
        let frame = try #require(one.firstRange(of: [0x2C, 0, 0, 0, 0])).lowerBound
        let frames = [[UInt8]](repeating: Array(one[frame..<one.count - 1]), count: 200).joined()
        var inspections = 0
        let budget = WorkBudget(
            steps: .max,
            inspect: {
                inspections += 1
                return inspections == 100 ? .time : nil
            })
        _ = try Self.error(one[..<frame] + frames + [0x3B], within: budget)
        #expect(budget.interruption == .time)
    }

    @Test(arguments: MadeImage.allCases.filter { $0 != .xbm })
    func `LOOK-16 the pixels of an image are paid for before they are made`(image: MadeImage) throws {
        var asked = 0
        let budget = WorkBudget(
            steps: .max,
            reserve: {
                asked += $0
                return false
            })
        _ = try Self.error(try image.make(), within: budget)
        #expect(budget.interruption == .memory)
        #expect(asked >= 4 * MadeImage.size.width * MadeImage.size.height)
    }
}
