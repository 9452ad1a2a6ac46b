// SPDX-License-Identifier: Apache-2.0

/// A growing list of plain values with one owner. It is an `Array` without the check for shared storage at each change.
struct OwnedList<Element: BitwiseCopyable>: ~Copyable {
    /// Storage of `capacity` values, of which `count` are written. Owned by the list alone, and freed with it.
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
