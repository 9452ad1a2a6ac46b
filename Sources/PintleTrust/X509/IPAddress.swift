// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An IPv4 or IPv6 address in network byte order: 4 or 16 bytes, as an iPAddress of a subjectAltName.
struct IPAddress: Hashable {
    let bytes: [UInt8]

    init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// - Parameter text: dotted IPv4 with all four numbers, or IPv6 with or without brackets and zone.
    init?(_ text: String) {
        var address = text[...]
        if address.hasPrefix("[") {
            guard address.hasSuffix("]") else { return nil }
            address = address.dropFirst().dropLast()
        }
        // A zone says which link an address is on; certificates cannot.
        let plain = String(address.prefix { $0 != "%" })
        if !text.hasPrefix("["), let bytes = IPAddress.parse(plain, AF_INET, 4) {
            self.bytes = bytes
        } else if let bytes = IPAddress.parse(plain, AF_INET6, 16) {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    private static func parse(_ text: String, _ family: CInt, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}

extension IPAddress: CustomStringConvertible {
    var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, self.bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        return string(cString: buffer)
    }
}
