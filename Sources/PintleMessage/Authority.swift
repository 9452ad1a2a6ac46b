// SPDX-License-Identifier: Apache-2.0

/// A host and a port (RFC 3986 §3.2 without user information).
///
/// The host is in lower case, without a trailing dot; an IPv6 address is without its brackets.
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
    /// - Returns: nil for user information, empty hosts, ports out of range, and bytes that no host may have.
    public init?(_ text: some StringProtocol, defaultPort: UInt16?) {
        var bytes = Array(text.utf8)
        self.init(bytes: &bytes, defaultPort: defaultPort)
    }

    private init?(bytes: inout [UInt8], defaultPort: UInt16?) {
        var hostEnd = bytes.count
        var port = defaultPort
        var host: ArraySlice<UInt8>
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = bytes[1..<close]
            guard host.contains(UInt8(ascii: ":")), host.allSatisfy(Self.isIPv6Byte) else { return nil }
            hostEnd = close + 1
            guard hostEnd == bytes.count || bytes[hostEnd] == UInt8(ascii: ":") else { return nil }
        } else {
            hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
            host = bytes[..<hostEnd]
            guard host.allSatisfy(Self.isNameByte) else { return nil }
            if host.last == UInt8(ascii: "."), host.count > 1 { host.removeLast() }
            guard !host.isEmpty, host.count <= 253, host.first != UInt8(ascii: ".") else { return nil }
        }
        if hostEnd < bytes.count {
            let digits = bytes[(hostEnd + 1)...]
            if digits.isEmpty {
                // "host:" is an authority with the default port (RFC 3986 §6.2.3).
                guard port != nil else { return nil }
            } else {
                guard digits.count <= 5, digits.allSatisfy(ASCII.isDigit) else { return nil }
                let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
                guard number > 0, number <= 65535 else { return nil }
                port = UInt16(number)
            }
        }
        guard let port else { return nil }
        self.init(host: String(decoding: host.map(ASCII.lowercased), as: UTF8.self), port: port)
    }

    /// Letters, digits, `-`, `.`, `_` and the percent sign's relatives are left to resolvers; what could end an
    /// authority, or confuse one that reads it again, is refused.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
    }

    private static func isIPv6Byte(_ byte: UInt8) -> Bool {
        ASCII.hexValue(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }
}

/// The two URL schemes that Pintle carries.
public enum Scheme: String, Sendable, Hashable {
    case http, https

    /// 80 or 443.
    public var defaultPort: UInt16 { self == .http ? 80 : 443 }
}
