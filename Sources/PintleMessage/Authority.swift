// SPDX-License-Identifier: Apache-2.0

/// A host and a port (RFC 3986 §3.2 without user information).
///
/// Every host that comes from outside is read here and nowhere else, so that rules, logs, resolvers, upstream proxies and
/// origins all get the same one. The host is in lower case, without a trailing dot. An IPv4 address is in dotted decimal,
/// however it was spelled, and an IPv6 address is in the form of RFC 5952, without brackets.
public struct Authority: Sendable, Hashable, CustomStringConvertible {
    /// A registered name, an IPv4 address, or an IPv6 address without brackets; lower case.
    public let host: String
    /// From 1 to 65535.
    public let port: UInt16

    /// Makes an authority from a host that is already in normal form.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// True if the host is an IPv6 address, which has brackets in URLs.
    public var isIPv6: Bool { self.host.utf8.contains(UInt8(ascii: ":")) }

    /// True if the host is a name that leads to the loopback addresses on every machine, without a lookup (RFC 6761 §6.3).
    package var isNameOfLoopback: Bool { self.host == "localhost" || self.host.hasSuffix(".localhost") }

    /// `host:port`, with brackets around an IPv6 address.
    public var description: String { self.isIPv6 ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)" }

    /// The text for a URL or a Host field: without the port if it is the default of `scheme`.
    public func description(for scheme: Scheme) -> String {
        guard self.port == scheme.defaultPort else { return self.description }
        return self.isIPv6 ? "[\(self.host)]" : self.host
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`.
    ///
    /// - Parameter defaultPort: the port if the text has none; nil makes a port mandatory.
    /// - Returns: nil for user information, empty hosts, ports out of range, bytes that no host may have, and hosts whose
    ///   last label is a number although they are not an address (WHATWG URL, "ends in a number checker").
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
            // A mapped address stays an IPv6 address here: its origin is reached over a socket of that family. Rules treat
            // it as the IPv4 address.
            self.init(host: isIPv6 && address.family == .v4 ? "::ffff:\(address)" : address.description, port: port)
            return
        }
        let name = String(unsafeUninitializedCapacity: host.count) { space in
            for (index, byte) in bytes[host].enumerated() { space[index] = ASCII.lowercased(byte) }
            return host.count
        }
        self.init(host: name, port: port)
    }

    /// The two kinds of host.
    enum Kind {
        case name
        /// An address; `isIPv6` is true if it is in brackets.
        case address(IPAddress, isIPv6: Bool)
    }

    /// The kind of the host, its place in `bytes`, and the port; nil if `bytes` are not an authority.
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
            // A trailing dot only says that the name is complete. Two trailing dots are refused: otherwise the same host
            // would have two names, of which rules know only one.
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

    /// True for letters, digits, `-`, `.`, `_` and `~`. Any other byte could end an authority, or confuse a program that
    /// reads the authority again.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
    }

    /// The address, without a zone (RFC 3986 §3.2.2); nil if `bytes` are not an IPv6 address.
    private static func ipv6Address(_ bytes: Slice<UnsafeRawBufferPointer>) -> IPAddress? {
        // The longest text has six groups and an IPv4 address (RFC 4291 §2.2).
        guard bytes.count <= 45, bytes.contains(UInt8(ascii: ":")) else { return nil }
        return IPAddress(String(decoding: bytes, as: UTF8.self))
    }
}

/// The two URL schemes that Pintle forwards.
public enum Scheme: String, Sendable, Hashable {
    /// Plaintext.
    case http
    /// Over TLS.
    case https

    /// 80 for http, 443 for https.
    public var defaultPort: UInt16 { self == .http ? 80 : 443 }
}
