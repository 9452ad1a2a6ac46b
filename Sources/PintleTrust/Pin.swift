// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The SHA-256 digest of a SubjectPublicKeyInfo: a public key together with its algorithm (RFC 7469 §2.4).
///
/// A renewed certificate with the same key has the same pin.
public struct Pin: Sendable, Hashable {
    /// The digest, always 32 bytes.
    public let digest: [UInt8]

    private static let length = 32
    /// The number of base64 digits of 32 bytes, without the padding.
    private static let base64Digits = 43
    private static let base64Alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Reads a pin in one of its usual spellings.
    ///
    /// - Parameter text: `sha256/BASE64` (as OkHttp prints it), `sha256//BASE64` (curl), `pin-sha256="BASE64"`
    ///   (RFC 7469), or 64 hexadecimal digits with or without colons. Padding may be missing.
    /// - Throws: `.invalidPin`, saying what was found instead of 32 bytes.
    public init(_ text: String) throws(TrustError) {
        if let encoded = Pin.base64Part(of: text) {
            self.digest = try Pin.decode(base64: encoded, of: text)
        } else {
            self.digest = try Pin.decode(hexadecimal: text)
        }
    }

    /// Makes the pin of a DER-encoded SubjectPublicKeyInfo.
    package init(spki: [UInt8]) {
        var digest = [UInt8](repeating: 0, count: Pin.length)
        _ = SHA256(spki, spki.count, &digest)
        self.digest = digest
    }

    /// Returns the text after the prefix, or nil if it has no prefix and can only be hexadecimal.
    private static func base64Part(of text: String) -> Substring? {
        if text.hasPrefix("sha256/") {
            let rest = text.dropFirst("sha256/".count)
            // A slash is a base64 digit too: the length tells whether this one belongs to curl's prefix.
            let digits = rest.prefix { $0 != "=" }.count
            let isWhole = digits == Pin.base64Digits && rest.count <= digits + 1
            return rest.first == "/" && !isWhole ? rest.dropFirst() : rest
        }
        guard text.hasPrefix("pin-sha256=") else { return nil }
        let value = text.dropFirst("pin-sha256=".count)
        return value.count >= 2 && value.first == "\"" && value.last == "\"" ? value.dropFirst().dropLast() : value
    }

    private static func decode(base64: Substring, of text: String) throws(TrustError) -> [UInt8] {
        var digits = Array(base64.utf8)
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard digits.allSatisfy(Pin.base64Alphabet.contains), digits.count % 4 != 1 else {
            throw Pin.error("not base64", text)
        }
        let padding = (4 - digits.count % 4) % 4
        digits += [UInt8](repeating: UInt8(ascii: "="), count: padding)

        var bytes = [UInt8](repeating: 0, count: digits.count / 4 * 3)
        guard EVP_DecodeBlock(&bytes, digits, CInt(digits.count)) == bytes.count else {
            throw Pin.error("not base64", text)
        }
        bytes.removeLast(padding)
        guard bytes.count == Pin.length else {
            throw Pin.error("\(bytes.count) bytes after base64, a SHA-256 pin has \(Pin.length)", text)
        }
        // Bits beyond the last byte must be zero, or a mistyped last digit would go unnoticed.
        guard Pin.encode(base64: bytes) == digits else {
            throw Pin.error("not canonical base64, the last digit is wrong", text)
        }
        return bytes
    }

    private static func decode(hexadecimal text: String) throws(TrustError) -> [UInt8] {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard !digits.isEmpty, values.count == digits.count else {
            throw Pin.error("not a pin: write sha256/ and 44 base64 digits, or 64 hexadecimal digits", text)
        }
        guard values.count == Pin.length * 2 else {
            throw Pin.error("\(values.count) hexadecimal digits, a SHA-256 pin has \(Pin.length * 2)", text)
        }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    private static func encode(base64 bytes: [UInt8]) -> [UInt8] {
        // One byte more than the digits, since EVP_EncodeBlock ends them with a zero.
        var digits = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        _ = EVP_EncodeBlock(&digits, bytes, CInt(bytes.count))
        digits.removeLast()
        return digits
    }

    private static func error(_ fact: String, _ text: String) -> TrustError {
        let shown = text.count > 100 ? "\(text.prefix(100))…" : text
        return TrustError(
            code: .invalidPin,
            message: "\(fact): \"\(shown)\". To print the current pin of a host: pintle pins show HOST:PORT")
    }
}

extension Pin: CustomStringConvertible {
    /// `sha256/` and the digest in base64, as it is written in a configuration.
    public var description: String {
        "sha256/" + String(decoding: Pin.encode(base64: self.digest), as: UTF8.self)
    }
}

extension Pin: Comparable {
    /// The order of the digests, for lists that read the same every time.
    public static func < (left: Pin, right: Pin) -> Bool {
        left.digest.lexicographicallyPrecedes(right.digest)
    }
}
