// SPDX-License-Identifier: Apache-2.0

/// Percent-encoding of names and values in queries and forms (RFC 3986 §2.1).
public enum PercentEscaping {
    /// Escapes every UTF-8 byte of `text` except ASCII letters, digits and `-._~/?`, with upper-case digits.
    ///
    /// Escapes in the text are escaped again; a space becomes `%20`. The result is ASCII.
    public static func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        Self.escape(text, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends `text`, escaped as by ``escape(_:)``, to `bytes`.
    public static func escape(_ text: String, into bytes: inout [UInt8]) {
        // No capacity is reserved: `reserveCapacity` allocates exactly as much as asked for, so each of a million short
        // texts would copy all the bytes before it.
        for byte in text.utf8 {
            if Self.isUnescaped[Int(byte)] {
                bytes.append(byte)
            } else {
                Self.escape(byte: byte, into: &bytes)
            }
        }
    }

    /// Appends `%XX` for any byte.
    static func escape(byte: UInt8, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(Self.hexDigits[Int(byte >> 4)])
        bytes.append(Self.hexDigits[Int(byte & 15)])
    }

    /// Replaces each `%XX` by its byte.
    ///
    /// - Parameter plusIsSpace: true if `+` stands for a space, as in HTML forms.
    /// - Returns: nil if a `%` is not followed by two hexadecimal digits.
    public static func unescape(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.next().flatMap(ASCII.hexValue), let low = rest.next().flatMap(ASCII.hexValue)
                else { return nil }
                result.append(high << 4 | low)
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return result
    }

    /// Replaces each `%XX` of `text` by its byte and reads the bytes as UTF-8.
    ///
    /// A Swift string cannot hold half a surrogate pair, so escaping always succeeds; only unescaping can meet broken text.
    ///
    /// - Returns: nil for a broken escape and for bytes that are not UTF-8.
    public static func unescape(_ text: String, plusIsSpace: Bool = false) -> String? {
        Self.unescape(text.utf8, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Replaces each `%XX` by its byte, and keeps broken escapes unchanged.
    package static func unescapeWhole(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(ASCII.hexValue)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                result.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private static let isUnescaped: [Bool] = {
        var table = Array(repeating: false, count: 256)
        for byte in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?".utf8 {
            table[Int(byte)] = true
        }
        return table
    }()
}
