// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// Reads X bitmaps: C source with a size and a list of numbers, each of which has the pixels of the next eight (X11) or
/// sixteen (X10) columns of a row.
///
/// gdk-pixbuf's reader writes them to a file and trusts the size that it finds there. So they are read here, and strictly:
/// the list must have exactly as many numbers as the size requires.
struct XBitmap {
    /// The maximum length of a name, because names are stored for comparison.
    private static let nameLimit = 256

    private let bytes: [UInt8]
    private let pixelLimit: Int
    private var index = 0
    private var width: Int?
    private var height: Int?
    /// The maximum number of pixels for which ``values`` are stored.
    private var ceiling = 0
    private var values: [UInt16] = []
    /// The number of pixels in each number.
    private var bits = 8

    /// True if `bytes` begin like an X bitmap: with a definition, or with a comment before it.
    static func begins(_ bytes: [UInt8]) -> Bool {
        let start = bytes.drop { Self.isSpace($0) }
        return start.starts(with: "#define".utf8) || start.starts(with: "/*".utf8)
    }

    /// - Throws: `.undecodable` with the position at which the bytes stop being an X bitmap; `.tooLarge` as soon as the
    ///   size is known.
    static func size(of bytes: [UInt8], pixelLimit: Int) throws(ImageError) -> ImageSize {
        var bitmap = XBitmap(bytes: bytes, pixelLimit: pixelLimit)
        return try bitmap.read()
    }

    /// Returns the size like ``size(of:pixelLimit:)``, and the pixels, black on white, unless there are more than
    /// `ceiling`.
    static func decode(
        _ bytes: [UInt8], pixelLimit: Int, inflatingUpTo ceiling: Int
    ) throws(ImageError) -> DecodedImage {
        var bitmap = XBitmap(bytes: bytes, pixelLimit: pixelLimit)
        bitmap.ceiling = ceiling
        let size = try bitmap.read()
        guard !size.isOver(ceiling), let pixels = Bitmap(size: size, pixels: bitmap.pixels(size)) else {
            return DecodedImage(size: size, pixels: nil)
        }
        return DecodedImage(size: size, pixels: ImagePixels(frames: [ImagePixels.Frame(bitmap: pixels)]))
    }

    /// Returns four bytes for each bit, beginning with the lowest bit.
    private func pixels(_ size: ImageSize) -> [UInt8] {
        let inRow = (size.width + self.bits - 1) / self.bits
        var pixels = [UInt8](repeating: .max, count: size.width * size.height * Bitmap.bytesPerPixel)
        for row in 0..<size.height {
            for column in 0..<size.width
            where self.values[row * inRow + column / self.bits] >> UInt16(column % self.bits) & 1 == 1 {
                let place = (row * size.width + column) * Bitmap.bytesPerPixel
                for part in 0..<3 { pixels[place + part] = 0 }
            }
        }
        return pixels
    }

    private init(bytes: [UInt8], pixelLimit: Int) {
        self.bytes = bytes
        self.pixelLimit = pixelLimit
    }

    private mutating func read() throws(ImageError) -> ImageSize {
        try self.skipSpace()
        while self.takes(UInt8(ascii: "#")) { try self.definition() }
        guard let width = self.width, let height = self.height else {
            throw self.due("a “#define” of width and height")
        }
        let size = ImageSize(width: width, height: height)
        try size.check(limit: self.pixelLimit)
        self.bits = try self.declaration()
        let count = (width + self.bits - 1) / self.bits * height
        try self.numbers(count, below: 1 << self.bits, areKept: !size.isOver(self.ceiling))
        try self.skipSpace()
        _ = self.takes(UInt8(ascii: ";"))
        try self.skipSpace()
        guard self.index == self.bytes.count else { throw self.due("the end") }
        return size
    }

    /// Reads `#define name_width 16`, after the `#`. Other definitions than width and height, such as a hot spot, are
    /// ignored.
    private mutating func definition() throws(ImageError) {
        guard self.word() == "define" else { throw self.due("“define”") }
        try self.skipSpace()
        let name = self.name()
        guard !name.isEmpty else { throw self.due("a name") }
        try self.skipSpace()
        let place = self.index
        let isNegative = self.takes(UInt8(ascii: "-"))
        let value = try self.number()
        let isWidth = name == "width" || name.hasSuffix("_width")
        guard isWidth || name == "height" || name.hasSuffix("_height") else { return try self.skipSpace() }
        guard !isNegative, 1...Int(Int32.max) ~= value else {
            self.index = place
            throw self.due("a size from 1 to \(Int32.max)")
        }
        if isWidth { self.width = value } else { self.height = value }
        try self.skipSpace()
    }

    /// Reads `static unsigned char name_bits[] = {`.
    ///
    /// - Returns: the number of pixels in each number.
    private mutating func declaration() throws(ImageError) -> Int {
        var bits = 0
        while bits == 0 {
            let start = self.index
            let word = self.word()
            try self.skipSpace()
            switch word {
            case "static", "const", "unsigned": break
            case "char": bits = 8
            case "short": bits = 16
            default:
                self.index = start
                throw self.due("“char” or “short”")
            }
        }
        guard !self.name().isEmpty else { throw self.due("a name") }
        try self.skipSpace()
        try self.take("[")
        try self.skipSpace()
        if !self.takes(UInt8(ascii: "]")) {
            _ = try self.number()
            try self.skipSpace()
            try self.take("]")
        }
        try self.skipSpace()
        try self.take("=")
        try self.skipSpace()
        try self.take("{")
        return bits
    }

    /// Reads the list up to its closing brace; a comma may follow the last number.
    private mutating func numbers(_ count: Int, below end: Int, areKept: Bool) throws(ImageError) {
        var rest = count
        while true {
            try self.skipSpace()
            if self.takes(UInt8(ascii: "}")) { break }
            let place = self.index
            let value = try self.number()
            guard value < end, rest > 0 else {
                self.index = place
                throw self.due(rest > 0 ? "a number below \(end)" : "the end of \(count) numbers")
            }
            if areKept { self.values.append(UInt16(value)) }
            rest -= 1
            try self.skipSpace()
            if self.takes(UInt8(ascii: ",")) { continue }
            try self.take("}")
            break
        }
        guard rest == 0 else {
            self.index -= 1
            throw self.due("the rest of \(count) numbers")
        }
    }

    // MARK: Words

    /// Reads a number in C's decimal, octal or hexadecimal notation, up to 32 bits.
    private mutating func number() throws(ImageError) -> Int {
        let start = self.index
        var radix = 10
        if self.takes(UInt8(ascii: "0")) {
            radix = 8
            if self.takes(UInt8(ascii: "x")) || self.takes(UInt8(ascii: "X")) { radix = 16 }
        }
        let digits = self.index
        var value = 0
        while self.index < self.bytes.count, let digit = ASCII.hexValue(self.bytes[self.index]), Int(digit) < radix {
            value = value * radix + Int(digit)
            guard value <= Int(UInt32.max) else {
                self.index = start
                throw self.due("a number of 32 bits")
            }
            self.index += 1
        }
        // A zero alone is an octal number without further digits.
        guard self.index > digits || radix == 8 else { throw self.due("a number") }
        return value
    }

    /// Reads a keyword of C; empty if there is none.
    private mutating func word() -> String { self.text { ASCII.lowercased($0) &- 0x61 < 26 } }

    /// Reads a name; empty if there is none, or if it is too long. It need not be a C identifier: ImageMagick uses the name
    /// `-` for an image on standard output.
    private mutating func name() -> String { self.text { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "[") } }

    private mutating func text(of isPart: (UInt8) -> Bool) -> String {
        let text = self.bytes[self.index...].prefix(Self.nameLimit + 1).prefix(while: isPart)
        guard text.count <= Self.nameLimit else { return "" }
        self.index = text.endIndex
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func take(_ character: Unicode.Scalar) throws(ImageError) {
        guard self.takes(UInt8(ascii: character)) else { throw self.due("“\(character)”") }
    }

    private mutating func takes(_ byte: UInt8) -> Bool {
        guard self.index < self.bytes.count, self.bytes[self.index] == byte else { return false }
        self.index += 1
        return true
    }

    /// Skips white space and comments.
    private mutating func skipSpace() throws(ImageError) {
        while self.index < self.bytes.count {
            if Self.isSpace(self.bytes[self.index]) {
                self.index += 1
            } else if self.bytes[self.index...].starts(with: "/*".utf8) {
                self.index += 2
                while !self.bytes[self.index...].starts(with: "*/".utf8) {
                    guard self.index < self.bytes.count else { throw self.due("the end of the comment") }
                    self.index += 1
                }
                self.index += 2
            } else {
                return
            }
        }
    }

    private func due(_ what: String) -> ImageError {
        ImageError(.undecodable, "the X bitmap cannot be decoded: at byte \(self.index) \(what) is due")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
}
