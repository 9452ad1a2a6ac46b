// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage
internal import PintleStorage

/// The requests without a body that recur, byte for byte, on the connections of one event loop, for example of programs that
/// poll. They are parsed and planned once for each configuration.
///
/// A head is remembered when it arrives for the second time, so that unique heads do not displace recurrent ones.
struct RecurrentRequests {
    /// A head that may be recurrent.
    struct Head {
        fileprivate let hash: UInt64

        /// - Parameter bytes: the head, including the empty line.
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

    /// The longest head that is remembered, in bytes.
    fileprivate static let longest = 2048
    /// The most memory that is used, in bytes; an estimate.
    private static let capacity: UInt64 = 4 << 20

    private var entries = RecencyEntries<UInt64, Entry>()
    /// The hashes of the latest heads; the place of each depends on the hash.
    private var seen = [UInt64](repeating: 0, count: 1024)

    /// The remembered request whose head is equal to `bytes`, if any.
    mutating func find(_ head: Head, in bytes: UnsafeRawBufferPointer) -> ReceivedRequest? {
        guard let entry = self.entries.use(head.hash), entry.bytes.count == bytes.count, let start = bytes.baseAddress,
            entry.bytes.withUnsafeBytes({ $0.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? false })
        else { return nil }
        return entry.request
    }

    /// Notes the arrival of a head.
    ///
    /// - Returns: true if it has arrived before, so that it is worth remembering.
    mutating func note(_ head: Head) -> Bool {
        let place = Int(head.hash % UInt64(self.seen.count))
        if self.seen[place] == head.hash { return true }
        self.seen[place] = head.hash
        return false
    }

    /// Remembers a request with the head `bytes`.
    mutating func remember(_ request: ReceivedRequest, _ head: Head, in bytes: UnsafeRawBufferPointer) {
        // The estimate includes the head in its parts, the same with a destination of an enclosure, the planned request, the
        // cache lookup, two short response heads, and the objects around them.
        let cost = 8 * UInt64(bytes.count) + 6144
        _ = self.entries.insert(Entry(bytes: [UInt8](bytes), request: request), for: head.hash, cost: cost)
        if self.entries.cost > Self.capacity { _ = self.entries.removeOldest(untilCost: Self.capacity) }
    }

    /// Hashes eight bytes at a time. Deliberately colliding heads only displace each other, and are served no worse than new
    /// heads.
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
