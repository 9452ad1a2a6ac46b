// SPDX-License-Identifier: Apache-2.0

/// The body of a ServerHello of TLS 1.3, of which a HelloRetryRequest is a form (RFC 8446 §4.1.3 and §4.1.4).
struct ServerHello: Hashable {
    /// The longest body: every field at its longest.
    static let longest = 2 + 32 + 1 + 32 + 2 + 1 + 2 + 0xFFFF
    static let messageType: UInt8 = 2
    private static let supportedVersions = 43
    private static let keyShare = 51

    /// The random value by which a HelloRetryRequest is told from other hellos: SHA-256 of its name.
    private static let retryRandom: [UInt8] = [
        0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
        0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
    ]

    let isRetryRequest: Bool
    let session: [UInt8]
    let cipher: Int
    /// The chosen version; nil if an older version than TLS 1.3 was chosen, which has no extension for it.
    let version: Int?
    /// The content of the extension with the chosen group; nil without one.
    let keyShare: [UInt8]?

    /// Reads the body; nil if it is not a complete ServerHello up to the last byte.
    init?(_ body: ArraySlice<UInt8>) {
        var rest = body
        guard rest.take(2) != nil, let random = rest.take(32), let session = rest.takeVector(1), session.count <= 32,
            let cipher = rest.take(2)?.number, rest.take(1)?.first == 0
        else { return nil }
        var found: [Int: ArraySlice<UInt8>] = [:]
        // Hellos of TLS 1.2 may end without extensions.
        if !rest.isEmpty {
            guard var extensions = rest.takeVector(2), rest.isEmpty else { return nil }
            while !extensions.isEmpty {
                guard let type = extensions.take(2)?.number, let content = extensions.takeVector(2),
                    found.updateValue(content, forKey: type) == nil
                else { return nil }
            }
        }
        if let version = found[Self.supportedVersions] {
            guard version.count == 2 else { return nil }
            self.version = version.number
        } else {
            self.version = nil
        }
        self.isRetryRequest = random.elementsEqual(Self.retryRandom)
        self.session = Array(session)
        self.cipher = cipher
        self.keyShare = found[Self.keyShare].map(Array.init)
    }

    /// The group of which a HelloRetryRequest asks for a share; nil if it asks for none, or the field cannot be read.
    var requestedGroup: Int? {
        guard self.isRetryRequest, let keyShare, keyShare.count == 2 else { return nil }
        return keyShare[...].number
    }
}
