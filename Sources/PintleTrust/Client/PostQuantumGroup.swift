// SPDX-License-Identifier: Apache-2.0

/// A group for the key exchange of TLS 1.3 that withstands quantum computers, by its number in IANA's registry of supported
/// groups. A hybrid is as strong as the stronger of its two halves.
package enum PostQuantumGroup: UInt16, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    // In the order in which they are offered: the most common first.
    case x25519MLKEM768 = 0x11EC
    case secp256r1MLKEM768 = 0x11EB
    case secp384r1MLKEM1024 = 0x11ED
    case mlkem768 = 0x0201
    case mlkem1024 = 0x0202
    case mlkem512 = 0x0200

    /// The name in the registry: `X25519MLKEM768`.
    package var description: String {
        switch self {
        case .x25519MLKEM768: "X25519MLKEM768"
        case .secp256r1MLKEM768: "SecP256r1MLKEM768"
        case .secp384r1MLKEM1024: "SecP384r1MLKEM1024"
        case .mlkem768: "MLKEM768"
        case .mlkem1024: "MLKEM1024"
        case .mlkem512: "MLKEM512"
        }
    }
}
