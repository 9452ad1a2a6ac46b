// SPDX-License-Identifier: Apache-2.0

/// A store in Java's own format (JKS, and JCEKS with entries of these kinds), in which certificates are not encrypted.
///
/// Its password protects keys, and a digest of the whole. Java also opens a store without a password, and then ignores the
/// digest.
struct JavaKeyStore {
    /// The DER of the certificates that are trusted by themselves, in the store's order.
    private(set) var trusted: [[UInt8]] = []

    /// True if `bytes` begin like such a store.
    static func begins(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0xFE, 0xED, 0xFE, 0xED]) || bytes.starts(with: [0xCE, 0xCE, 0xCE, 0xCE])
    }

    /// - Returns: nil if the store is cut short, or has entries of a kind that cannot be skipped.
    init?(_ bytes: [UInt8]) {
        var reader = Reader(rest: bytes[...])
        guard Self.begins(bytes), reader.skip(4), let version = reader.number(4), version == 1 || version == 2,
            let count = reader.number(4)
        else { return nil }
        // Each entry needs bytes, so a false count ends with them.
        for _ in 0..<count {
            // After the kind come the alias and the date.
            guard let kind = reader.number(4), reader.skipBlock(2), reader.skip(8) else { return nil }
            switch kind {
            case 1:
                guard reader.skipBlock(4), let chain = reader.number(4) else { return nil }
                for _ in 0..<chain { if reader.certificate(version) == nil { return nil } }
            case 2:
                guard let certificate = reader.certificate(version) else { return nil }
                self.trusted.append(Array(certificate))
            default: return nil
            }
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        /// Reads a number of `size` bytes, the highest first.
        mutating func number(_ size: Int) -> Int? {
            self.take(size)?.reduce(0) { $0 << 8 | Int($1) }
        }

        mutating func skip(_ count: Int) -> Bool { self.take(count) != nil }

        /// Skips a block after its length of `size` bytes.
        mutating func skipBlock(_ size: Int) -> Bool { self.number(size).flatMap { self.take($0) } != nil }

        mutating func certificate(_ version: Int) -> ArraySlice<UInt8>? {
            // Version 2 names the kind of certificate, which is X.509.
            if version == 2, !self.skipBlock(2) { return nil }
            return self.number(4).flatMap { self.take($0) }
        }

        private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= self.rest.count else { return nil }
            defer { self.rest = self.rest.dropFirst(count) }
            return self.rest.prefix(count)
        }
    }
}
