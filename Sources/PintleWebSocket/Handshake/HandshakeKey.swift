// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The key of a client's handshake, with which a server proves that it has understood the handshake (RFC 6455 §4.1).
struct HandshakeKey: Sendable, Equatable {
    /// The key, 16 bytes in base64.
    let text: String

    /// Creates an unpredictable key.
    static func random() -> HandshakeKey {
        var generator = SystemRandomNumberGenerator()
        let halves: (UInt64, UInt64) = (generator.next(), generator.next())
        return HandshakeKey(text: withUnsafeBytes(of: halves) { Base64.encode($0) })
    }

    private init(text: String) { self.text = text }

    /// Reads a key that a client has sent; nil if it does not have 16 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 24, bytes.suffix(2).elementsEqual("==".utf8),
            bytes.prefix(22).allSatisfy(Base64.isDigit)
        else { return nil }
        self.text = text
    }

    /// Returns the server's answer to the key: the base64 of the SHA-1 of the key and a fixed text.
    func accept() throws(WebSocketHandshakeError) -> String {
        do throws(TrustError) {
            let digest = try MessageDigest.sha1.digest(of: Array((self.text + Self.suffix).utf8))
            return digest.withUnsafeBytes { Base64.encode($0) }
        } catch {
            throw WebSocketHandshakeError(.digest, error.message)
        }
    }

    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
}

/// Base64 of a few bytes (RFC 4648 §4).
private enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for index in 0..<4 {
                text.append(index <= part.count ? Self.digits[bits >> (18 - 6 * index) & 0x3F] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func isDigit(_ byte: UInt8) -> Bool { Self.digits.contains(byte) }
}
