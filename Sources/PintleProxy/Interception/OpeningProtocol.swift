// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The protocol of a client in an intercepted tunnel, recognised by its first bytes.
///
/// Bytes that some server reads as a handshake or as a request count as such: only other bytes may be relayed uninspected, as
/// another protocol. If a rule lets every protocol through, only a request that can be read counts: others may be commands of
/// memcached or beanstalkd (`get key`), or HTTP/2 without TLS, as clients of gRPC speak it.
enum OpeningProtocol: Equatable {
    /// A TLS handshake.
    case tls
    /// A plaintext request.
    case http
    /// Another protocol.
    case other

    /// The size in bytes from which a text without a line end counts as a request, which the parser then refuses.
    private static let longestLine = 8 * 1024
    private static let handshake: UInt8 = 22
    /// Methods that make a line a request, whatever follows: HTTP/0.9 and lenient servers need no version.
    private static let methods: Set = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI",
    ]

    /// Recognises the protocol; nil while more bytes are needed.
    ///
    /// - Parameter takesAnyProtocol: true if a rule lets every protocol through (`tcp://HOST:PORT`).
    init?(of bytes: some RandomAccessCollection<UInt8>, takesAnyProtocol: Bool = false) {
        guard let first = bytes.first else { return nil }
        if first == Self.handshake {
            self = .tls
        } else if first & 0x80 != 0 {
            guard let isHello = Self.isOldHello(bytes) else { return nil }
            self = isHello ? .tls : .other
        } else {
            guard let isRequest = Self.isRequest(bytes, readable: takesAnyProtocol) else { return nil }
            self = isRequest ? .http : .other
        }
    }

    /// True if a ClientHello in the form of SSL 2 begins here (RFC 5246 §E.2): a two-byte length with the first bit set, type
    /// 1, and a version of SSL or TLS. Nil while more bytes are needed.
    private static func isOldHello(_ bytes: some RandomAccessCollection<UInt8>) -> Bool? {
        let start = bytes.prefix(4).dropFirst(2)
        if let type = start.first, type != 1 { return false }
        guard start.count == 2 else { return nil }
        return start.last == 3 || start.last == 0
    }

    /// True if a line begins here that a server may read as a request line; nil while more bytes are needed.
    ///
    /// - Parameter isReadable: true if only one of HTTP/1 counts.
    private static func isRequest(_ bytes: some RandomAccessCollection<UInt8>, readable isReadable: Bool) -> Bool? {
        // Servers skip empty lines before a request (RFC 9112 §2.2), and some skip blanks.
        let line = bytes.drop { Self.isBlank($0) }
        let method = line.prefix { ASCII.isTokenByte($0) }
        let rest = line.dropFirst(method.count)
        guard let next = rest.first else { return bytes.count < Self.longestLine ? nil : true }
        guard !method.isEmpty, next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") else { return false }
        if !isReadable, method.count <= 7, Self.methods.contains(String(decoding: method, as: UTF8.self).uppercased()) {
            return true
        }
        let text = rest.prefix { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
        guard let end = rest.dropFirst(text.count).first else { return bytes.count < Self.longestLine ? nil : true }
        guard end == UInt8(ascii: "\r") || end == UInt8(ascii: "\n") else { return false }
        let version = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.last
        let beginning = isReadable ? "http/1." : "http/"
        return version.map { ASCII.equalsIgnoringCase($0.prefix(beginning.utf8.count), beginning.utf8) } ?? false
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(byte)
    }
}
