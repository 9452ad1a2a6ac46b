// SPDX-License-Identifier: Apache-2.0

/// The places in a ring of bytes: what is put in first leaves first, and nothing is split at the end of the ring.
struct RingSpace: Sendable {
    /// The length of the ring in bytes.
    let capacity: Int
    /// The place of the oldest part.
    private var first = 0
    /// The end of the newest part.
    private var end = 0
    /// The end of the last part before the ring begins anew; nil if the newest part lies behind the oldest.
    private var turn: Int?
    /// The number of parts.
    private(set) var count = 0

    init(capacity: Int) { self.capacity = capacity }

    /// Takes a place for a part.
    ///
    /// - Parameter size: in bytes, at least 1.
    /// - Returns: nil if the oldest parts have to leave before, or if the part is longer than the ring.
    mutating func take(_ size: Int) -> Int? {
        if self.count == 0 { (self.first, self.end, self.turn) = (0, 0, nil) }
        if self.turn != nil {
            guard self.end + size <= self.first else { return nil }
        } else if self.end + size > self.capacity {
            guard size <= self.first else { return nil }
            (self.turn, self.end) = (self.end, 0)
        }
        defer { self.end += size }
        self.count += 1
        return self.end
    }

    /// Gives back the place of the oldest part.
    mutating func removeFirst(_ size: Int) {
        precondition(self.count > 0, "BUG: a ring without parts loses one")
        self.count -= 1
        self.first += size
        if self.first == self.turn { (self.first, self.turn) = (0, nil) }
    }
}
