// SPDX-License-Identifier: Apache-2.0

/// Reads request targets (RFC 9112 §3.2, RFC 3986 §3).
enum TargetReader {
    /// Reads the target of a request with this method; the bytes must be visible ASCII.
    static func target(_ bytes: UnsafeRawBufferPointer, method: String) throws(WireError) -> RequestTarget {
        if bytes.firstIndex(of: UInt8(ascii: "#"), from: 0) != nil {
            throw WireError(.malformed, "the request target has a fragment")
        }
        if method == "CONNECT" {
            guard let authority = Authority(bytes: bytes, defaultPort: nil) else {
                throw WireError(.malformed, "the target of CONNECT is not host:port")
            }
            return .authority(authority)
        }
        if bytes.first == UInt8(ascii: "/") { return .origin(path: String(decoding: bytes, as: UTF8.self)) }
        if bytes.count == 1, bytes[0] == UInt8(ascii: "*") {
            guard method == "OPTIONS" else { throw WireError(.malformed, "only OPTIONS may have the target *") }
            return .asterisk
        }
        return try Self.absolute(bytes, method: method)
    }

    /// True if a target in absolute form has the scheme ws or wss.
    static func hasWebSocketScheme(_ bytes: UnsafeRawBufferPointer) -> Bool {
        self.hasPrefix(bytes, "ws://") || self.hasPrefix(bytes, "wss://")
    }

    private static func absolute(_ bytes: UnsafeRawBufferPointer, method: String) throws(WireError) -> RequestTarget {
        let scheme: Scheme
        let start: Int
        if Self.hasPrefix(bytes, "http://") {
            (scheme, start) = (.http, 7)
        } else if Self.hasPrefix(bytes, "https://") {
            (scheme, start) = (.https, 8)
        } else if Self.hasPrefix(bytes, "ws://") {
            (scheme, start) = (.http, 5)
        } else if Self.hasPrefix(bytes, "wss://") {
            (scheme, start) = (.https, 6)
        } else {
            throw WireError(.malformed, "the request target is neither a path nor an http, https, ws or wss URL")
        }
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") {
            guard bytes[end] != UInt8(ascii: "@") else {
                throw WireError(.malformed, "the request target has user information")
            }
            end += 1
        }
        let host = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard let authority = Authority(bytes: host, defaultPort: scheme.defaultPort) else {
            throw WireError(.malformed, "the request target has no valid host and port")
        }
        var path = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[end...]), as: UTF8.self)
        if end == bytes.count, method == "OPTIONS" {
            // The target means the origin server as a whole (RFC 9112 §3.2.4).
            path = "*"
        } else if end == bytes.count || bytes[end] == UInt8(ascii: "?") {
            path = "/" + path
        }
        return .absolute(scheme: scheme, authority: authority, path: path)
    }

    private static func hasPrefix(_ bytes: UnsafeRawBufferPointer, _ lowercase: StaticString) -> Bool {
        guard bytes.count >= lowercase.utf8CodeUnitCount else { return false }
        return lowercase.withUTF8Buffer { prefix in
            for index in prefix.indices where ASCII.lowercased(bytes[index]) != prefix[index] { return false }
            return true
        }
    }
}
