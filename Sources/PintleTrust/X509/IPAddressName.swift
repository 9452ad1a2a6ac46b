// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An IPv4 or IPv6 address in network byte order: 4 or 16 bytes, as in an iPAddress of a subjectAltName.
struct IPAddressName: Hashable {
    let bytes: [UInt8]

    init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads text that is an address as a whole: dotted IPv4 with all four numbers, or IPv6.
    ///
    /// Brackets and zones are refused: they belong to texts about connecting, not to certificates, and one reader would
    /// take a text with them for the address, another for a name.
    init?(_ text: String) {
        // `inet_pton` stops at a NUL, and would ignore the rest.
        guard !text.utf8.contains(0) else { return nil }
        guard let bytes = IPAddressName.parse(text, AF_INET, 4) ?? IPAddressName.parse(text, AF_INET6, 16) else {
            return nil
        }
        self.bytes = bytes
    }

    /// Reads a host that is an address, in the form in which people and URLs write it: IPv6 may have brackets and a zone.
    ///
    /// A zone (RFC 4007 §11) names the link of an address; certificates cannot. Only IPv6 has zones.
    init?(host: String) {
        var address = host[...]
        let isBracketed = address.hasPrefix("[")
        if isBracketed {
            guard address.hasSuffix("]") else { return nil }
            address = address.dropFirst().dropLast()
        }
        let plain = address.prefix { $0 != "%" }
        let zone = address[plain.endIndex...]
        let isZone = zone.utf8.count > 1 && !zone.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }
        guard zone.isEmpty || isZone, let read = IPAddressName(String(plain)) else { return nil }
        guard read.bytes.count == 16 || (!isBracketed && zone.isEmpty) else { return nil }
        self = read
    }

    /// The IPv4 address in an IPv6 address of the form `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2); nil for any other.
    /// Connections to either reach the same machine.
    var mapped: IPAddressName? {
        guard self.bytes.count == 16, self.bytes.starts(with: IPAddressName.mappedPrefix) else { return nil }
        return IPAddressName(bytes: Array(self.bytes.suffix(4)))
    }

    static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    private static func parse(_ text: String, _ family: CInt, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}

extension IPAddressName: CustomStringConvertible {
    var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, self.bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        return string(cString: buffer)
    }
}
