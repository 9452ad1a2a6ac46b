// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The blocks of a GIF (GIF89a), all of which are read before any picture is unpacked.
struct GIFFile {
    /// The effect of a picture on the canvas after its time is over.
    enum Disposal {
        /// It stays, and the next picture is drawn over it.
        case keep
        /// Its area becomes transparent.
        case clear
        /// Its area becomes what it was before the picture.
        case restore
    }

    /// A picture, with its position on the canvas and in the file. Parts outside of the canvas are not drawn.
    struct Frame {
        let left: Int
        let top: Int
        let size: ImageSize
        let isInterlaced: Bool
        /// The colours, three bytes each.
        let palette: ArraySlice<UInt8>
        let transparent: UInt8?
        let disposal: Disposal
        /// Hundredths of a second.
        let delay: Int
        let valueLength: UInt8
        /// The index at which the blocks of its values begin.
        let data: Int
    }

    /// The control block that precedes a picture and applies to it.
    private struct Control {
        var disposal = Disposal.keep
        var delay = 0
        var transparent: UInt8?
    }

    let bytes: [UInt8]
    /// The size of the canvas and of every decoded picture. Pixels that a frame does not cover keep their values.
    private(set) var size: ImageSize
    private(set) var frames: [Frame] = []
    /// The number of times that the pictures are played; nil for endlessly.
    private(set) var loopCount: Int? = 1
    private var index: Int
    private var palette: ArraySlice<UInt8> = []
    private var control = Control()

    /// The minimum of pixels that each picture counts, because even the smallest one takes memory of its own.
    private static let leastPixels = 256

    /// Reads all blocks.
    ///
    /// - Throws: `.undecodable` with the position at which the bytes stop being a GIF; `.tooLarge` as soon as all pictures
    ///   together have more pixels than `pixelLimit`.
    init(_ bytes: [UInt8], pixelLimit: Int) throws(ImageError) {
        self.bytes = bytes
        self.index = 6
        self.size = ImageSize(width: 0, height: 0)
        let (width, height) = (try self.number(), try self.number())
        let flags = try self.byte()
        // Skips the background colour, which decoders no longer paint, and the aspect ratio of the pixels.
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
                // A single picture of at most `leastPixels` is always accepted.
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
            // Some programs write one block terminator too many.
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

    /// Reads Netscape's extension: a block with its name, and one of three bytes: 1, and the number of repetitions, where 0
    /// means endless.
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

    /// Reads the colours that `flags` announce; empty if there are none.
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

    /// Reads a little-endian number of two bytes.
    private mutating func number() throws(ImageError) -> Int {
        let low = try self.byte()
        return Int(low) | Int(try self.byte()) << 8
    }

    private static let cutOff = ImageError(.undecodable, "the gif image is cut off")

    static func broken(_ reason: String) -> ImageError {
        ImageError(.undecodable, "the gif image cannot be decoded: \(reason)")
    }
}
