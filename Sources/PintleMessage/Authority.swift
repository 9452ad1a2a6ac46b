// SPDX-License-Identifier: Apache-2.0

/// A host and a port (RFC 3986 §3.2 without user information).
///
/// Every host that comes from outside is read here and nowhere else, so that rules, logs, resolvers, parents and origins
/// all get the same one. The host is in lower case, without a trailing dot. An IPv4 address is in dotted decimal, however
/// it was spelled, and an IPv6 address as RFC 5952 writes it, without brackets.
public struct Authority: Sendable, Hashable, CustomStringConvertible {
    /// A registered name, an IPv4 address, or an IPv6 address without brackets; lower case.
    public let host: String
    /// 1…65535.
    public let port: UInt16

    /// Makes an authority of a host that is already in normal form.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Whether the host is an IPv6 address, which is bracketed in URLs.
    public var isIPv6: Bool { self.host.utf8.contains(UInt8(ascii: ":")) }

    /// `host:port`, with brackets around an IPv6 address.
    public var description: String { self.isIPv6 ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)" }

    /// As in a URL or Host field: the port is left out where it is the scheme's own.
    public func description(for scheme: Scheme) -> String {
        guard self.port == scheme.defaultPort else { return self.description }
        return self.isIPv6 ? "[\(self.host)]" : self.host
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`.
    ///
    /// - Parameter defaultPort: the port where the text has none; nil makes a port mandatory.
    /// - Returns: nil for user information, empty hosts, ports out of range, bytes that no host may have, and hosts whose
    ///   last label is a number although they are no address (WHATWG URL, "ends in a number checker").
    public init?(_ text: some StringProtocol, defaultPort: UInt16?) {
        var text = String(text)
        let made = text.withUTF8 { Authority(bytes: UnsafeRawBufferPointer($0), defaultPort: defaultPort) }
        guard let made else { return nil }
        self = made
    }

    /// Reads an authority from bytes, as ``init(_:defaultPort:)`` does.
    public init?(bytes: UnsafeRawBufferPointer, defaultPort: UInt16?) {
        guard let (kind, host, port) = Self.parts(of: bytes, defaultPort: defaultPort) else { return nil }
        if case .address(let address, let isIPv6) = kind {
            // A mapped address stays an IPv6 address here: its origin is asked over a socket of that family, and rules
            // know that it is the IPv4 address.
            self.init(host: isIPv6 && address.family == .v4 ? "::ffff:\(address)" : address.description, port: port)
            return
        }
        let name = String(unsafeUninitializedCapacity: host.count) { space in
            for (index, byte) in bytes[host].enumerated() { space[index] = ASCII.lowercased(byte) }
            return host.count
        }
        self.init(host: name, port: port)
    }

    /// What a host is.
    enum Kind {
        case name
        /// In brackets, or not.
        case address(IPAddress, isIPv6: Bool)
    }

    /// What the host is, where it is in `bytes`, and the port; nil where they are no authority.
    static func parts(
        of bytes: UnsafeRawBufferPointer, defaultPort: UInt16?
    ) -> (kind: Kind, host: Range<Int>, port: UInt16)? {
        let kind: Kind
        let host: Range<Int>
        var end: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]"), from: 0) else { return nil }
            host = 1..<close
            guard let address = Self.ipv6Address(bytes[host]) else { return nil }
            kind = .address(address, isIPv6: true)
            end = close + 1
            guard end == bytes.count || bytes[end] == UInt8(ascii: ":") else { return nil }
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":"), from: 0) ?? bytes.count
            // A trailing dot only says that the name is complete. Behind two, the same host would have two names, and
            // only one of them those that rules know.
            let hasDot = end > 1 && bytes[end - 1] == UInt8(ascii: ".")
            host = 0..<(hasDot ? end - 1 : end)
            guard !host.isEmpty, host.count <= 253, bytes[0] != UInt8(ascii: "."),
                bytes[host.upperBound - 1] != UInt8(ascii: "."), bytes[host].allSatisfy(Self.isNameByte)
            else { return nil }
            switch NumericHost.read(UnsafeRawBufferPointer(rebasing: bytes[host])) {
            case .name: kind = .name
            case .address(let bits): kind = .address(IPAddress(v4: bits), isIPv6: false)
            case .malformed: return nil
            }
        }
        // "host:" is an authority with the default port (RFC 3986 §6.2.3).
        guard end + 1 < bytes.count else { return defaultPort.map { (kind, host, $0) } }
        let digits = bytes[(end + 1)...]
        guard digits.count <= 5, digits.allSatisfy(ASCII.isDigit) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard number > 0, number <= 65535 else { return nil }
        return (kind, host, UInt16(number))
    }

    /// Letters, digits, `-`, `.`, `_` and the percent sign's relatives are left to resolvers; what could end an
    /// authority, or confuse one that reads it again, is refused.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
    }

    /// The address, without a zone (RFC 3986 §3.2.2); nil where `bytes` are none.
    private static func ipv6Address(_ bytes: Slice<UnsafeRawBufferPointer>) -> IPAddress? {
        // The longest text has six groups and an IPv4 address (RFC 4291 §2.2).
        guard bytes.count <= 45, bytes.contains(UInt8(ascii: ":")) else { return nil }
        return IPAddress(String(decoding: bytes, as: UTF8.self))
    }
}

/// The two URL schemes that Pintle carries.
public enum Scheme: String, Sendable, Hashable {
    /// In clear text.
    case http
    /// Over TLS.
    case https

    /// 80 or 443.
    public var defaultPort: UInt16 { self == .http ? 80 : 443 }
}
