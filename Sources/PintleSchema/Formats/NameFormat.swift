// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage

/// Names and addresses of hosts and people.
enum NameFormat {
    /// True for a host name of RFC 1123 §2.1, ASCII only: labels of 1 to 63 letters, digits and inner hyphens, 253 bytes in
    /// all. A-labels are not decoded.
    static func isHostname(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.count <= 253
            && bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                    && label.allSatisfy { Self.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
    }

    /// True for a mailbox of RFC 5321 §4.1.2: dot-atom or quoted string, then a host name or an address in brackets.
    static func isEmail(_ bytes: [UInt8]) -> Bool {
        guard let sign = bytes.lastIndex(of: UInt8(ascii: "@")) else { return false }
        return Self.isLocalPart(bytes[..<sign]) && Self.isMailDomain(bytes[(sign + 1)...])
    }

    static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return !text.utf8.contains(0) && inet_pton(AF_INET, text, &address) == 1
    }

    static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return !text.utf8.contains(0) && inet_pton(AF_INET6, text, &address) == 1
    }

    /// True for a UUID of RFC 9562 §4: 32 hexadecimal digits, grouped by hyphens.
    static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.count == 36
            && bytes.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : ASCII.hexValue(byte) != nil
            }
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool { ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 }

    private static func isLocalPart(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard (1...64).contains(bytes.count) else { return false }
        if bytes.first == UInt8(ascii: "\"") { return Self.isQuoted(bytes) }
        return bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.allSatisfy { Self.isLetterOrDigit($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
        }
    }

    private static func isQuoted(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count > 2, bytes.last == UInt8(ascii: "\"") else { return false }
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            guard (0x20...0x7E).contains(byte), isEscaped || byte != UInt8(ascii: "\"") else { return false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return !isEscaped
    }

    private static func isMailDomain(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else { return Self.isHostname(bytes) }
        let literal = bytes.dropFirst().dropLast()
        // Compared as bytes: `String` takes quadratic time to look for a prefix if a text has long runs of combining marks.
        guard literal.starts(with: "IPv6:".utf8) else { return Self.isIPv4(String(decoding: literal, as: UTF8.self)) }
        return Self.isIPv6(String(decoding: literal.dropFirst(5), as: UTF8.self))
    }
}
