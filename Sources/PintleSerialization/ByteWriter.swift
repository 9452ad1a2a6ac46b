// SPDX-License-Identifier: Apache-2.0

/// A growing list of bytes. `Array` checks at each byte whether its storage is shared, which is most of the work if a
/// document is written in small pieces.
struct ByteWriter: ~Copyable {
    /// Storage of `capacity` bytes, of which `count` are written. Owned by the writer alone, and freed with it.
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(reserving capacity: Int) {
        self.base = .allocate(capacity: max(16, capacity))
        self.capacity = max(16, capacity)
    }

    deinit { self.base.deallocate() }

    /// A copy of the written bytes.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: self.base, count: self.count)) }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        self.reserve(1)
        self.base[self.count] = byte
        self.count += 1
    }

    /// - Parameter place: the index of a written byte.
    @inline(__always)
    subscript(place: Int) -> UInt8 {
        precondition(place >= 0 && place < self.count, "BUG: there is no such byte")
        return self.base[place]
    }

    /// Calls `body` with a range of the written bytes. They are valid during the call only.
    @inline(__always)
    func withBytes<Result: ~Copyable, Failure: Error>(
        _ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= self.count, "BUG: there are no such bytes")
        return try body(UnsafeBufferPointer(start: self.base + range.lowerBound, count: range.count))
    }

    /// Returns the last eight bytes of `range`, or all bytes and zeros if it is shorter. Two ranges of the same length, at
    /// most eight, are equal if their results are.
    @inline(__always)
    func end(of range: Range<Int>) -> UInt64 {
        self.withBytes(range) { bytes in
            (bytes.count < 8 ? ByteWord(end: bytes, from: 0) : ByteWord(bytes, at: bytes.count - 8)).bits
        }
    }

    mutating func append(_ run: UnsafeBufferPointer<UInt8>) {
        guard let start = run.baseAddress else { return }
        self.reserve(run.count)
        (self.base + self.count).update(from: start, count: run.count)
        self.count += run.count
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { self.append($0) }
    }

    /// Appends bytes from `start` on, up to the first byte that `marks` finds.
    ///
    /// - Parameter marks: returns a word with the high bit set in each byte that ends the run; only the lowest one must be
    ///   exact.
    /// - Returns: the index of the first byte that was not appended: the one that was found, or the end.
    @inline(__always)
    mutating func append(
        _ run: UnsafeBufferPointer<UInt8>, from start: Int, until marks: (ByteWord) -> UInt64
    ) -> Int {
        var place = start
        // A whole word is written each time, so there must always be room for one.
        self.reserve(run.count - start + 8)
        let target = self.base + self.count - start
        while run.count - place >= 8 {
            let word = ByteWord(run, at: place)
            let found = marks(word)
            word.store(to: target + place)
            guard found == 0 else {
                place += found.trailingZeroBitCount / 8
                self.count += place - start
                return place
            }
            place += 8
        }
        if place < run.count {
            let word = ByteWord(end: run, from: place)
            word.store(to: target + place)
            // A mark after the end belongs to the zeros that fill the word.
            place += min(marks(word).trailingZeroBitCount / 8, run.count - place)
        }
        self.count += place - start
        return place
    }

    /// Appends the bytes that `body` writes at the given place. It may write up to `limit` bytes that count, and eight
    /// more.
    ///
    /// - Parameter body: returns the number of bytes that count.
    @inline(__always)
    mutating func append(atMost limit: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
        self.reserve(limit + 8)
        let count = body(self.base + self.count)
        precondition(count >= 0 && count <= limit, "BUG: more was written than there is room for")
        self.count += count
    }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if self.capacity - self.count < more { self.grow(more) }
    }

    private mutating func grow(_ more: Int) {
        let capacity = max(self.capacity * 2, self.count + more)
        let base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        base.update(from: self.base, count: self.count)
        self.base.deallocate()
        self.base = base
        self.capacity = capacity
    }
}

/// Eight bytes in one integer, the first byte in the lowest bits.
struct ByteWord {
    let bits: UInt64

    @inline(__always)
    private init(bits: UInt64) { self.bits = bits }

    /// - Parameter place: the index of the first of eight bytes.
    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) {
        self.bits = UInt64(
            littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    /// The last bytes, at most seven, filled up with zeros.
    @inline(__always)
    init(end bytes: UnsafeBufferPointer<UInt8>, from place: Int) {
        let raw = UnsafeRawBufferPointer(bytes)
        let count = bytes.count - place
        var (bits, done): (UInt64, Int) = (0, 0)
        if count & 4 != 0 {
            bits = UInt64(UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
            done = 4
        }
        if count & 2 != 0 {
            let two = UInt16(littleEndian: raw.loadUnaligned(fromByteOffset: place + done, as: UInt16.self))
            bits |= UInt64(two) << UInt64(done * 8)
            done += 2
        }
        if count & 1 != 0 { bits |= UInt64(bytes[place + done]) << UInt64(done * 8) }
        self.bits = bits
    }

    @inline(__always)
    func store(to place: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(place).storeBytes(of: self.bits.littleEndian, as: UInt64.self)
    }

    /// The high bits of the bytes that equal `byte`; exact up to the first of them.
    @inline(__always)
    func marks(of byte: UInt8) -> UInt64 {
        let difference = self.bits ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }

    /// The high bits of the bytes from `first`, a multiple of 16 below 128, to `first + 15`; exact up to the first of them.
    @inline(__always)
    func marks(ofSixteenFrom first: UInt8) -> UInt64 {
        ByteWord(bits: self.bits & 0xF0F0_F0F0_F0F0_F0F0).marks(of: first)
    }

    /// The high bits of the bytes below `limit`, at most 128; exact up to the first of them.
    @inline(__always)
    func marks(below limit: UInt8) -> UInt64 {
        (self.bits &- 0x0101_0101_0101_0101 &* UInt64(limit)) & ~self.bits & 0x8080_8080_8080_8080
    }

    /// The high bits of the bytes that are not ASCII.
    @inline(__always)
    var marksBeyondASCII: UInt64 { self.bits & 0x8080_8080_8080_8080 }
}
