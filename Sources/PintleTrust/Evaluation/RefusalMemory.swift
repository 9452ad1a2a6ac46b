// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import PintleSystem

/// Remembers for some seconds which chains were refused, by their digests, so that who shows the same chain with every
/// connection has it judged once.
///
/// What is trusted is not remembered: a verdict of trust is always of its own handshake.
final class RefusalMemory: Sendable {
    /// Identifies what was judged: the host, the security level, and the bytes of every certificate.
    struct Key: Hashable {
        private let digest: [UInt8]

        /// - Parameter chain: the encodings, leaf first.
        init?(host: String?, level: CInt, chain: [[UInt8]]) {
            guard let context = EVP_MD_CTX_new() else { return nil }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
            // Each part after its length, so that no two lists of parts run into the same bytes.
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
        let ruling: Ruling
        let met: UnixTime
    }

    /// How long a refusal is remembered, in seconds: long enough to make repetition cheap, and short enough that nobody
    /// waits for it who has mended his server.
    static let seconds: Int64 = 5
    /// The most refusals that are remembered; above it all are forgotten.
    private static let mostEntries = 256

    private let entries = Locked<[Key: Entry]>([:])

    /// Whether anything is remembered at all; without, no digest has to be computed.
    var isEmpty: Bool { self.entries.withLock { $0.isEmpty } }

    /// The refusal of the same chain within the last seconds.
    func refusal(of key: Key, at moment: UnixTime) -> Ruling? {
        self.entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            let age = moment.seconds - entry.met.seconds
            if (0..<Self.seconds).contains(age) { return entry.ruling }
            entries[key] = nil
            return nil
        }
    }

    func remember(_ ruling: Ruling, of key: Key, at moment: UnixTime) {
        self.entries.withLock { entries in
            if entries.count >= Self.mostEntries { entries.removeAll() }
            entries[key] = Entry(ruling: ruling, met: moment)
        }
    }
}
