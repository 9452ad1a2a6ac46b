// SPDX-License-Identifier: Apache-2.0

/// DER for tests of certificates that no library would mint.
enum DERBytes {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 128
            ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + content
    }

    /// An INTEGER that is not negative.
    static func number(_ bytes: [UInt8]) -> [UInt8] {
        self.element(0x02, (bytes[0] >= 0x80 ? [0] : []) + bytes)
    }

    /// The value of an extension, as recipes take it.
    static func value(_ bytes: [UInt8]) -> String {
        "DER:" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}
