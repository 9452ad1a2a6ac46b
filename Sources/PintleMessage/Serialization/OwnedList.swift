// SPDX-License-Identifier: Apache-2.0

/// Plain values that grow at their end, with one owner: what an `Array` is without asking at each change whether it is
/// shared.
struct OwnedList<Element: BitwiseCopyable>: ~Copyable {
    /// Of `capacity` values, of which `count` are written. Owned: nothing else keeps it, and it goes with the list.
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(reserving capacity: Int) {
        self.base = .allocate(capacity: max(4, capacity))
        self.capacity = max(4, capacity)
    }

    deinit { self.base.deallocate() }

    @inline(__always)
    mutating func append(_ element: Element) {
        if self.count == self.capacity { self.grow() }
        (self.base + self.count).initialize(to: element)
        self.count += 1
    }

    @inline(__always)
    mutating func removeAll() { self.count = 0 }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < self.count, "BUG: there is no such value")
            return self.base[index]
        }
        _modify {
            precondition(index >= 0 && index < self.count, "BUG: there is no such value")
            yield &self.base[index]
        }
    }

    private mutating func grow() {
        let base = UnsafeMutablePointer<Element>.allocate(capacity: self.capacity * 2)
        base.update(from: self.base, count: self.count)
        self.base.deallocate()
        self.base = base
        self.capacity *= 2
    }
}
