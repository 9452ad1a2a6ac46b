// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension JSONScan {
    /// `\ud83d\ude00`: the number of bytes that may be needed to check an escape.
    static let longestEscape = 12

    /// Scans from any place within a string to after the closing quote.
    @inline(__always)
    mutating func text() -> Failure? {
        while true {
            self.index = PlainBytes.end(
                in: self.bytes, from: self.index, before: UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\\"))
            guard self.index < self.end else { return self.isLast ? .stringByte : .unfinished }
            let byte = self.bytes[self.index]
            if byte == UInt8(ascii: "\"") {
                self.index += 1
                return nil
            }
            let failure: Failure?
            if byte >= 0x80 {
                failure = self.multiByteRun()
            } else if byte == UInt8(ascii: "\\") {
                failure = self.escape()
            } else if byte < 0x20 {
                failure = .stringByte
            } else {
                self.index += 1
                failure = nil
            }
            if let failure { return failure }
        }
    }

    private mutating func escape() -> Failure? {
        guard self.isLast || self.end - self.index >= Self.longestEscape else { return .unfinished }
        guard self.index + 1 < self.end else {
            self.index = self.end
            return .escape
        }
        self.index += 1
        switch self.bytes[self.index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            self.index += 1
            return nil
        case UInt8(ascii: "u"):
            self.index += 1
            return self.unicodeEscape()
        default: return .escape
        }
    }

    /// Scans a `\u` escape. Refuses half of a surrogate pair: RFC 8259 §8.2 calls its effect unpredictable, and `String`
    /// cannot hold it.
    private mutating func unicodeEscape() -> Failure? {
        let start = self.index - 2
        guard let unit = self.hexUnit() else { return .hexDigit }
        guard unit & 0xF800 == 0xD800 else { return nil }
        guard unit < 0xDC00, self.index + 1 < self.end, self.bytes[self.index] == UInt8(ascii: "\\"),
            self.bytes[self.index + 1] == UInt8(ascii: "u")
        else {
            self.index = start
            return .lowSurrogate
        }
        self.index += 2
        guard let second = self.hexUnit() else { return .hexDigit }
        guard second & 0xFC00 == 0xDC00 else {
            self.index = start
            return .lowSurrogate
        }
        return nil
    }

    private mutating func hexUnit() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard self.index < self.end, let digit = ASCII.hexValue(self.bytes[self.index]) else { return nil }
            unit = unit << 4 | UInt16(digit)
            self.index += 1
        }
        return unit
    }

    // MARK: UTF-8

    /// Scans characters beyond ASCII from here on (RFC 3629 §4). Refuses overlong forms, surrogates and code points beyond
    /// U+10FFFF.
    private mutating func multiByteRun() -> Failure? {
        while self.index < self.end {
            let lead = self.bytes[self.index]
            if lead < 0x80 { return nil }
            let left = self.end - self.index
            guard self.isLast || left >= 4 else { return .unfinished }
            let length: Int
            var lowest: UInt8 = 0x80
            var highest: UInt8 = 0xBF
            switch lead {
            case 0xC2...0xDF: length = 2
            case 0xE0...0xEF:
                length = 3
                if lead == 0xE0 { lowest = 0xA0 } else if lead == 0xED { highest = 0x9F }
            case 0xF0...0xF4:
                length = 4
                if lead == 0xF0 { lowest = 0x90 } else if lead == 0xF4 { highest = 0x8F }
            default: return .utf8
            }
            guard left >= length else { return .utf8 }
            let second = self.bytes[self.index + 1]
            guard second >= lowest, second <= highest else { return .utf8 }
            if length > 2, self.bytes[self.index + 2] & 0xC0 != 0x80 { return .utf8 }
            if length > 3, self.bytes[self.index + 3] & 0xC0 != 0x80 { return .utf8 }
            self.index += length
        }
        return nil
    }
}
