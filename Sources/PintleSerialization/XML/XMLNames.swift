// SPDX-License-Identifier: Apache-2.0

/// The names of the elements that are open.
struct XMLOpenElements {
    /// The maximum size of all names together, in bytes.
    static let limit = 1 << 20

    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    var count: Int { self.starts.count }
    var isEmpty: Bool { self.starts.isEmpty }

    /// The name of the innermost element, for an error.
    var last: String {
        self.starts.last.map { start in String(decoding: self.bytes[start...].prefix(64), as: UTF8.self) } ?? ""
    }

    /// - Returns: false if the names would be too large together.
    mutating func push(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard self.bytes.count + name.count <= Self.limit else { return false }
        self.starts.append(self.bytes.count)
        self.bytes.append(contentsOf: name)
        return true
    }

    mutating func pop() {
        guard let start = self.starts.popLast() else { return }
        self.bytes.removeSubrange(start...)
    }

    func isLast(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = self.starts.last else { return false }
        return self.bytes.count - start == name.count
            && self.bytes.withUnsafeBufferPointer { $0[start...].elementsEqual(name) }
    }
}

/// The names of the attributes of a tag; each name may occur once (XML 1.0 §3.1).
struct XMLAttributeNames {
    enum Insertion {
        case isNew, isThere, isTooMuch
    }

    /// The maximum size of all names together, in bytes.
    static let limit = 1 << 20
    /// The number of names up to which a linear search is faster than the table.
    private static let few = 8

    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// A hash table for more than ``few`` names: the number of each name, from 1, in the first free slot from its hash on.
    /// It has at least twice as many slots as names. Hashes are seeded for the process, so no document can have names
    /// chosen to collide.
    private var table: [UInt32] = []

    mutating func insert(_ name: UnsafeBufferPointer<UInt8>) -> Insertion {
        guard self.bytes.count + name.count <= Self.limit else { return .isTooMuch }
        if self.ends.count >= Self.few {
            if self.table.count < 2 * (self.ends.count + 1) { self.grow() }
            let place = self.place(of: name)
            guard self.table[place] == 0 else { return .isThere }
            self.table[place] = UInt32(self.ends.count + 1)
        } else {
            for number in self.ends.indices where self.isName(number, name) { return .isThere }
        }
        self.bytes.append(contentsOf: name)
        self.ends.append(self.bytes.count)
        return .isNew
    }

    mutating func removeAll() {
        // A tag with many attributes is usually followed by smaller ones; its memory is not kept for the rest of the
        // document.
        let isLarge = self.ends.count > Self.few
        self.bytes.removeAll(keepingCapacity: !isLarge)
        self.ends.removeAll(keepingCapacity: !isLarge)
        if isLarge { self.table = [] }
    }

    private func isName(_ number: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = number == 0 ? 0 : self.ends[number - 1]
        return self.ends[number] - start == name.count
            && self.bytes.withUnsafeBufferPointer { $0[start..<self.ends[number]].elementsEqual(name) }
    }

    /// Returns the slot of the name in the table, or the slot where it would be.
    private func place(of name: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        var place = hasher.finalize() & (self.table.count - 1)
        while self.table[place] != 0, !self.isName(Int(self.table[place]) - 1, name) {
            place = (place + 1) & (self.table.count - 1)
        }
        return place
    }

    private mutating func grow() {
        self.table = Array(repeating: 0, count: max(64, 2 * self.table.count))
        let (bytes, ends) = (self.bytes, self.ends)
        bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            for (number, end) in ends.enumerated() {
                self.table[self.place(of: UnsafeBufferPointer(rebasing: bytes[start..<end]))] = UInt32(number + 1)
                start = end
            }
        }
    }
}
