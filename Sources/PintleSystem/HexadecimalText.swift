// SPDX-License-Identifier: Apache-2.0

extension Sequence<UInt8> {
    /// The bytes as hexadecimal digits in lower case, two for each byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: self.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
