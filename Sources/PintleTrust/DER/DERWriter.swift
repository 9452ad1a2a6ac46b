// SPDX-License-Identifier: Apache-2.0

/// Writes values in DER (X.690 §8, §10), the inner ones first.
enum DERWriter {
    /// A value of bytes that are written already.
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + self.length(content.count) + content }

    /// A SEQUENCE.
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { self.value(0x30, Array(parts.joined())) }

    /// An OCTET STRING.
    static func octets(_ bytes: [UInt8]) -> [UInt8] { self.value(0x04, bytes) }

    /// A BIT STRING of up to eight named bits (X.690 §11.2.2), the first one being the highest.
    static func namedBits(_ bits: UInt8) -> [UInt8] {
        self.value(0x03, bits == 0 ? [0] : [UInt8(bits.trailingZeroBitCount), bits])
    }

    /// A BIT STRING of whole bytes.
    static func bits(_ bytes: [UInt8]) -> [UInt8] { self.value(0x03, [0] + bytes) }

    /// A Time of a certificate: a UTCTime up to the year 2049, a GeneralizedTime after it (RFC 5280 §4.1.2.5).
    static func time(_ time: UnixTime) -> [UInt8] {
        // 2036-11-23T17:18:57Z
        let text = time.description.utf8.filter { !"-T:".utf8.contains($0) }
        return time < self.year2050 ? self.value(0x17, Array(text.dropFirst(2))) : self.value(0x18, text)
    }

    static let `true`: [UInt8] = [0x01, 0x01, 0xFF]

    private static let year2050 = UnixTime(seconds: 2_524_608_000)

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let bytes = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
