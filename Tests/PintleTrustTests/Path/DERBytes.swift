// SPDX-License-Identifier: Apache-2.0

/// DER for tests of certificates that no library would mint.
enum DERBytes {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let digits = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }.drop { $0 == 0 }
        // A long form begins with the number of its digits (X.690 §8.1.3.5).
        let length = count < 128 ? [UInt8(count)] : [0x80 | UInt8(digits.count)] + digits
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
