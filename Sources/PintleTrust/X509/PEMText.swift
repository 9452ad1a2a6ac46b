// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Writes PEM (RFC 7468).
package enum PEMText {
    package static func certificates(_ certificates: [Certificate]) -> String {
        certificates.map { self.block("CERTIFICATE", $0.der) }.joined()
    }

    /// Returns one block with any label.
    package static func block(_ label: String, _ bytes: [UInt8]) -> String {
        var digits = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        EVP_EncodeBlock(&digits, bytes, CInt(bytes.count))
        digits.removeLast()
        let lines = stride(from: 0, to: digits.count, by: 64).map { start in
            String(decoding: digits[start..<min(start + 64, digits.count)], as: UTF8.self)
        }
        return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
    }
}
