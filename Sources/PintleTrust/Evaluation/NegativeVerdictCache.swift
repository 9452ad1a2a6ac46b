// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import PintleSystem

/// Remembers refused chains for some seconds, by their digests, so that a server that sends one chain on every connection
/// has it judged once.
///
/// Trusted chains are not remembered: a verdict of trust always comes from its own handshake.
final class NegativeVerdictCache: Sendable {
    /// A digest of all that was judged: the host, the security level, and the bytes of every certificate.
    struct Key: Hashable {
        private let digest: [UInt8]

        /// - Parameter chain: the encodings, leaf first.
        init?(host: String?, level: CInt, chain: [[UInt8]]) {
            guard let context = EVP_MD_CTX_new() else { return nil }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
            // Each part follows its length, so that different lists of parts never give the same bytes.
            for part in [Array((host ?? "").utf8), Array("\(level)".utf8)] + chain {
                var count = UInt64(part.count)
                guard EVP_DigestUpdate(context, &count, MemoryLayout<UInt64>.size) == 1,
                    EVP_DigestUpdate(context, part, part.count) == 1
                else { return nil }
            }
            var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { return nil }
            self.digest = Array(digest.prefix(32))
        }
    }

    private struct Entry {
        let ruling: HandshakeDecision
        let met: UnixTime
    }

    /// Seconds for which a refusal is remembered: long enough to make repetition cheap, and short enough not to delay the
    /// operator of a repaired server.
    static let seconds: Int64 = 5
    /// The most refusals that are remembered; at this number all are forgotten.
    private static let mostEntries = 256

    private let entries = Locked<[Key: Entry]>([:])

    /// True if nothing is remembered, so that no digest need be computed.
    var isEmpty: Bool { self.entries.withLock { $0.isEmpty } }

    /// Returns the refusal of this chain if it was made within the last `seconds`.
    func refusal(of key: Key, at moment: UnixTime) -> HandshakeDecision? {
        self.entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            let age = moment.seconds - entry.met.seconds
            if (0..<Self.seconds).contains(age) { return entry.ruling }
            entries[key] = nil
            return nil
        }
    }

    func remember(_ ruling: HandshakeDecision, of key: Key, at moment: UnixTime) {
        self.entries.withLock { entries in
            if entries.count >= Self.mostEntries { entries.removeAll() }
            entries[key] = Entry(ruling: ruling, met: moment)
        }
    }
}
