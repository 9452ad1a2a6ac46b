// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleWatch

/// The memory of kept exchanges: one block, in which they lie one behind the other, as bytes without references.
///
/// An exchange that was kept as it is held six allocations of 2 KiB together, with room in them that nothing used. While tens of
/// thousands are gathered, the allocator asks the kernel for memory at every second one, and each new page costs a processor 2 µs.
/// Here an exchange takes a third of that, the kernel is asked once, and a page that was touched serves for good. An exchange that
/// is forgotten is not touched again.
///
/// It has no lock of its own.
// @unchecked: only `RecentExchanges` has one, and uses it under its lock.
final class ExchangeMemory: @unchecked Sendable {
    /// The part before the bytes of the heads.
    private struct Front: BitwiseCopyable {
        let facts: EndedFacts
        /// Kept alive by the ``CommonFactsTable``.
        let common: Unmanaged<CommonFacts>
        let shape: KeptHeads.Shape
    }

    private static let alignment = 16

    private let capacity: Int
    /// Nil before the first exchange, and if the system has no memory for it.
    private var block: UnsafeMutableRawPointer?
    private var space = RingSpace(capacity: 0)

    private var base: UnsafeMutableRawPointer {
        guard let block else { preconditionFailure("BUG: nothing was kept yet") }
        return block
    }

    /// - Parameter capacity: in bytes. Nothing is taken before the first exchange; then the kernel gives the memory when it is
    ///   first written.
    init(capacity: Int) {
        precondition(MemoryLayout<Front>.alignment <= Self.alignment, "BUG: facts are not aligned")
        self.capacity = capacity
    }

    /// Takes the block; a much smaller one if the system has not so much (RLIMIT_DATA), so that room is left for the rest.
    private func takeBlock() {
        var size = self.capacity
        while self.block == nil, size > 0 {
            // Aligned to 16 bytes, as every block of malloc(3).
            self.block = malloc(size)
            if self.block == nil { size /= 8 }
        }
        self.space = RingSpace(capacity: size)
    }

    deinit { free(self.block) }

    /// Takes the place behind the others for an exchange, which ``fill(_:_:_:_:)`` then writes.
    ///
    /// - Parameter size: see ``size(of:)``.
    /// - Returns: nil if older ones have to leave first, or if it has no room even alone.
    func reserve(_ size: Int) -> Int? {
        if self.block == nil { self.takeBlock() }
        return self.space.take(size)
    }

    func fill(_ place: Int, _ facts: EndedFacts, _ common: Unmanaged<CommonFacts>, _ heads: HeadBlock) {
        let start = self.base + place
        start.initializeMemory(as: Front.self, to: Front(facts: facts, common: common, shape: heads.shape))
        let bytes = heads.bytes
        if let from = bytes.baseAddress {
            (start + MemoryLayout<Front>.stride).copyMemory(from: from, byteCount: bytes.count)
        }
    }

    /// The room that an exchange takes, in bytes.
    static func size(of shape: KeptHeads.Shape) -> Int {
        (MemoryLayout<Front>.stride + shape.length + Self.alignment - 1) / Self.alignment * Self.alignment
    }

    /// The id of the exchange at a place.
    func id(at place: Int) -> ExchangeID { self.front(at: place).facts.id }

    /// Counts the exchange at a place, and its rules.
    func count(at place: Int, in tally: inout ExchangeMetrics.Tally) {
        let front = self.front(at: place)
        let method = UnsafeRawBufferPointer(
            start: self.base + place + MemoryLayout<Front>.stride, count: Int(front.shape.method))
        front.common._withUnsafeGuaranteedRef { $0.count(front.facts, method: method, in: &tally) }
    }

    /// The exchange at a place.
    func exchange(at place: Int, _ extras: EndedExtras?) -> EndedExchange {
        let front = self.front(at: place)
        let bytes = UnsafeRawBufferPointer(
            start: self.base + place + MemoryLayout<Front>.stride, count: front.shape.length)
        return EndedExchange(
            front.facts, front.common.takeUnretainedValue(), extras, KeptHeads(front.shape, copying: bytes))
    }

    /// Forgets the oldest exchange.
    ///
    /// - Parameter size: of the oldest, as it was reserved.
    func removeFirst(_ size: Int) { self.space.removeFirst(size) }

    private func front(at place: Int) -> Front { (self.base + place).load(as: Front.self) }
}
