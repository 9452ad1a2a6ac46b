// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The blocks of a GIF (GIF89a), read to its end before any picture is unpacked.
struct GIFFile {
    /// The fate of a picture when its time is over.
    enum Disposal {
        /// It stays, and the next one is drawn over it.
        case keep
        /// Its place is not seen any more.
        case clear
        /// Its place is again what it was before.
        case restore
    }

    /// A picture: where it is drawn, and where its data are. What lies outside of the screen is not seen.
    struct Frame {
        let left: Int
        let top: Int
        let size: ImageSize
        let isInterlaced: Bool
        /// Three bytes for each colour.
        let palette: ArraySlice<UInt8>
        let transparent: UInt8?
        let disposal: Disposal
        /// In hundredths of a second.
        let delay: Int
        let valueLength: UInt8
        /// Where the blocks of its values begin.
        let data: Int
    }

    /// A block that is said before a picture and holds for it.
    private struct Control {
        var disposal = Disposal.keep
        var delay = 0
        var transparent: UInt8?
    }

    let bytes: [UInt8]
    /// Of each picture; what a frame does not cover stays as it was.
    private(set) var size: ImageSize
    private(set) var frames: [Frame] = []
    /// How often it is played; nil for without end.
    private(set) var loopCount: Int? = 1
    private var index: Int
    private var palette: ArraySlice<UInt8> = []
    private var control = Control()

    /// The bytes that a picture counts at least, however small: it takes memory of its own.
    private static let leastPixels = 256

    /// Reads all blocks.
    ///
    /// - Throws: `.undecodable` with the place where the bytes stop being a GIF; `.tooLarge` as soon as all pictures
    ///   together have more pixels than `pixelLimit`.
    init(_ bytes: [UInt8], pixelLimit: Int) throws(ImageError) {
        self.bytes = bytes
        self.index = 6
        self.size = ImageSize(width: 0, height: 0)
        let (width, height) = (try self.number(), try self.number())
        let flags = try self.byte()
        // The background's colour, which nobody paints any more, and the shape of pixels.
        try self.skip(2)
        self.palette = try self.palette(flags)
        guard width > 0, height > 0 else { throw Self.broken("it has no pixels") }
        self.size = ImageSize(width: width, height: height)
        try self.size.check(limit: pixelLimit)
        try self.readBlocks(pixelLimit: pixelLimit)
    }

    private mutating func readBlocks(pixelLimit: Int) throws(ImageError) {
        var pixels = 0
        while true {
            switch try self.byte() {
            case UInt8(ascii: ","):
                let frame = try self.frame()
                pixels += max(
                    Self.leastPixels, self.size.width * self.size.height, frame.size.width * frame.size.height)
                // The first one may always be small.
                guard pixels <= max(Self.leastPixels, pixelLimit) else {
                    throw ImageError(
                        .tooLarge,
                        "\(self.frames.count + 1) frames, or more, of \(self.size.width) × \(self.size.height) pixels "
                            + "are more than the \(pixelLimit) pixels that are accepted")
                }
                self.frames.append(frame)
            case UInt8(ascii: "!"): try self.extend()
            case UInt8(ascii: ";"):
                guard !self.frames.isEmpty else { throw Self.broken("it has no picture") }
                return
            // Some programs write an end of blocks too many.
            case 0: continue
            default: throw Self.broken("at byte \(self.index - 1) a block is due")
            }
        }
    }

    private mutating func extend() throws(ImageError) {
        let label = try self.byte()
        let start = self.index
        switch label {
        case 0xF9:
            guard try self.byte() == 4 else { throw Self.broken("at byte \(start) a length of 4 is due") }
            let flags = try self.byte()
            let delay = try self.number()
            let transparent = try self.byte()
            let disposal: Disposal =
                switch flags >> 2 & 7 {
                case 2: .clear
                case 3, 4: .restore
                default: .keep
                }
            self.control = Control(
                disposal: disposal, delay: delay, transparent: flags & 1 == 1 ? transparent : nil)
        case 0xFF: self.takeLoopCount()
        default: break
        }
        try self.skipBlocks()
    }

    /// The extension of Netscape's: a block of its name, and one of three bytes, 1 and how often the pictures are played again,
    /// 0 being without end.
    private mutating func takeLoopCount() {
        let block = self.bytes[self.index...].prefix(16)
        let names = ["NETSCAPE2.0", "ANIMEXTS1.0"]
        guard block.count == 16, names.contains(where: { block.dropFirst().starts(with: $0.utf8) }) else { return }
        let data = Array(block.suffix(4))
        guard block.first == 11, data[0] >= 3, data[1] == 1 else { return }
        let count = Int(data[2]) | Int(data[3]) << 8
        self.loopCount = count == 0 ? nil : count + 1
    }

    private mutating func frame() throws(ImageError) -> Frame {
        let start = self.index
        let (left, top) = (try self.number(), try self.number())
        let size = ImageSize(width: try self.number(), height: try self.number())
        guard size.width > 0, size.height > 0 else { throw Self.broken("the picture at byte \(start) has no pixels") }
        let flags = try self.byte()
        let own = try self.palette(flags)
        let palette = own.isEmpty ? self.palette : own
        guard !palette.isEmpty else { throw Self.broken("the picture at byte \(start) has no colours") }
        let valueLength = try self.byte()
        let frame = Frame(
            left: left, top: top, size: size, isInterlaced: flags & 0x40 != 0, palette: palette,
            transparent: self.control.transparent, disposal: self.control.disposal, delay: self.control.delay,
            valueLength: valueLength, data: self.index)
        self.control = Control()
        try self.skipBlocks()
        return frame
    }

    /// The colours that `flags` announce; empty for none.
    private mutating func palette(_ flags: UInt8) throws(ImageError) -> ArraySlice<UInt8> {
        guard flags & 0x80 != 0 else { return [] }
        let start = self.index
        try self.skip(3 << (Int(flags & 7) + 1))
        return self.bytes[start..<self.index]
    }

    // MARK: Bytes

    private mutating func skipBlocks() throws(ImageError) {
        while case let length = try self.byte(), length > 0 { try self.skip(Int(length)) }
    }

    private mutating func skip(_ count: Int) throws(ImageError) {
        guard count <= self.bytes.count - self.index else { throw Self.cutOff }
        self.index += count
    }

    private mutating func byte() throws(ImageError) -> UInt8 {
        guard self.index < self.bytes.count else { throw Self.cutOff }
        self.index += 1
        return self.bytes[self.index - 1]
    }

    /// In little endian.
    private mutating func number() throws(ImageError) -> Int {
        let low = try self.byte()
        return Int(low) | Int(try self.byte()) << 8
    }

    private static let cutOff = ImageError(.undecodable, "the gif image is cut off")

    static func broken(_ reason: String) -> ImageError {
        ImageError(.undecodable, "the gif image cannot be decoded: \(reason)")
    }
}
