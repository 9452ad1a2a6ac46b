// SPDX-License-Identifier: Apache-2.0

/// Writes values in DER (X.690 §8, §10). Inner values are written first.
enum DERWriter {
    /// Returns a value with this tag whose content is encoded already.
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + self.length(content.count) + content }

    /// Returns a SEQUENCE.
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { self.value(0x30, Array(parts.joined())) }

    /// Returns an OCTET STRING.
    static func octets(_ bytes: [UInt8]) -> [UInt8] { self.value(0x04, bytes) }

    /// Returns a BIT STRING of up to eight named bits (X.690 §11.2.2); the first one is the highest bit.
    static func namedBits(_ bits: UInt8) -> [UInt8] {
        self.value(0x03, bits == 0 ? [0] : [UInt8(bits.trailingZeroBitCount), bits])
    }

    static let `true`: [UInt8] = [0x01, 0x01, 0xFF]

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let bytes = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
