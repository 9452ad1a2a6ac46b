// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage
internal import PintleStorage

/// The requests without a body that come over and over again, byte for byte, on the connections of one loop: programs that
/// poll, pages that are loaded again. They are parsed and planned once for each configuration.
///
/// A head is remembered when it comes for the second time: those that come once do not take the place of others.
struct RecurrentRequests {
    /// A head that may be one of them.
    struct Head {
        fileprivate let hash: UInt64

        /// - Parameter bytes: with the empty line.
        /// - Returns: nil for a head that is too long to be remembered.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count <= RecurrentRequests.longest else { return nil }
            self.hash = RecurrentRequests.hash(bytes)
        }
    }

    private struct Entry {
        let bytes: [UInt8]
        let request: ReceivedRequest
    }

    /// Longer heads are not remembered, in bytes.
    fileprivate static let longest = 2048
    /// The most memory that is taken, in bytes, as it is estimated.
    private static let capacity: UInt64 = 4 << 20

    private var entries = RecencyEntries<UInt64, Entry>()
    /// The heads that came, in places that their hashes name.
    private var seen = [UInt64](repeating: 0, count: 1024)

    /// The request with the head that `bytes` are, if it is remembered.
    mutating func find(_ head: Head, in bytes: UnsafeRawBufferPointer) -> ReceivedRequest? {
        guard let entry = self.entries.use(head.hash), entry.bytes.count == bytes.count, let start = bytes.baseAddress,
            entry.bytes.withUnsafeBytes({ $0.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? false })
        else { return nil }
        return entry.request
    }

    /// Notes that a head has come.
    ///
    /// - Returns: true where it has come before, so that it is worth to be remembered.
    mutating func note(_ head: Head) -> Bool {
        let place = Int(head.hash % UInt64(self.seen.count))
        if self.seen[place] == head.hash { return true }
        self.seen[place] = head.hash
        return false
    }

    /// Remembers a request whose head `bytes` are.
    mutating func remember(_ request: ReceivedRequest, _ head: Head, in bytes: UnsafeRawBufferPointer) {
        // The head in its parts, the request that is made of it, what asks the cache, two heads of an answer that are not long,
        // and the objects around them.
        let cost = 6 * UInt64(bytes.count) + 6144
        _ = self.entries.insert(Entry(bytes: [UInt8](bytes), request: request), for: head.hash, cost: cost)
        if self.entries.cost > Self.capacity { _ = self.entries.removeOldest(untilCost: Self.capacity) }
    }

    /// Eight bytes at a time. Who makes heads that collide has them take each other's places, and is not served worse than
    /// others whose heads are new.
    fileprivate static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        var place = 0
        func mix(_ word: UInt64) {
            let (high, low) = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            hash = high ^ low
        }
        while place + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        while place < bytes.count {
            rest = rest << 8 | UInt64(bytes[place])
            place += 1
        }
        mix(rest)
        return hash
    }
}
