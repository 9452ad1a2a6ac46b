// SPDX-License-Identifier: Apache-2.0

/// A ClientHello of TLS 1.3 that offers some groups for the key exchange, but no share of any of them (RFC 8446 §4.2.8).
///
/// A server that supports one of the groups must ask for its share, and needs nothing that only an implementation of the
/// group could compute. All else is offered as widely as possible, so that only the groups can make a server refuse.
struct GroupOffer {
    static let version = 0x0304
    /// TLS_AES_128_GCM_SHA256 and the other two that servers have.
    static let ciphers = [0x1301, 0x1302, 0x1303]
    /// ECDSA with three curves, EdDSA, RSA-PSS with both kinds of keys, and for certificates RSA with PKCS #1.
    private static let signatures = [
        0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0804, 0x0805, 0x0806, 0x0809, 0x080A, 0x080B, 0x0401, 0x0501, 0x0601,
    ]

    let groups: [PostQuantumGroup]
    /// The session id, which servers repeat (RFC 8446 §D.4).
    let session: [UInt8]
    /// The record with the hello.
    let record: [UInt8]

    /// - Parameter host: the server's name; an address is not sent.
    init(_ groups: [PostQuantumGroup], host: String, using generator: inout some RandomNumberGenerator) {
        let random = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.session = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.groups = groups
        var body: [UInt8] = [3, 3] + random
        body.append(vector: self.session, size: 1)
        body.append(vector: Self.numbers(Self.ciphers), size: 2)
        // No compression.
        body += [1, 0]
        body.append(vector: Self.extensions(groups, host), size: 2)
        var message: [UInt8] = [1]
        message.append(vector: body, size: 3)
        // The version of a record is that of TLS 1.0 in a first hello (RFC 8446 §5.1).
        var record: [UInt8] = [22, 3, 1]
        record.append(vector: message, size: 2)
        self.record = record
    }

    private static func extensions(_ groups: [PostQuantumGroup], _ host: String) -> [UInt8] {
        var extensions: [UInt8] = []
        func add(_ type: Int, _ content: [UInt8]) {
            extensions.append(number: type, size: 2)
            extensions.append(vector: content, size: 2)
        }
        // RFC 6066 §3: an address is no server name, and a name has no trailing dot.
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if IPAddressName(host: name) == nil {
            var entry: [UInt8] = [0]
            entry.append(vector: Array(name.utf8), size: 2)
            add(0, Self.vector(entry, size: 2))
        }
        add(10, Self.vector(Self.numbers(groups.map { Int($0.rawValue) }), size: 2))
        add(13, Self.vector(Self.numbers(Self.signatures), size: 2))
        add(43, Self.vector(Self.numbers([Self.version]), size: 1))
        add(51, Self.vector([], size: 2))
        return extensions
    }

    private static func numbers(_ numbers: [Int]) -> [UInt8] {
        numbers.reduce(into: []) { $0.append(number: $1, size: 2) }
    }

    private static func vector(_ content: [UInt8], size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(vector: content, size: size)
        return bytes
    }
}
