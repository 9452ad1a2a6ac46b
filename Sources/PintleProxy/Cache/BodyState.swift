// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSession

/// The state of a ``SharedBody``: its bytes in memory, its bytes on disk, and the offsets of its readers.
struct BodyState {
    /// The bytes that stay in memory.
    enum Keeping {
        case all
        /// Bytes that are not on disk yet; the disk takes them.
        case unwritten
        /// Bytes not yet consumed by every reader.
        case unread
    }

    /// Bytes to be read from the disk for a reader.
    struct Question {
        let storage: any BodyStorage
        let offset: UInt64
        let count: Int
    }

    private struct Piece {
        /// The offset of its first byte in the body.
        let start: UInt64
        var bytes: ByteBuffer
        /// The number of readers whose next byte is in it.
        var readers = 0

        var end: UInt64 { self.start + UInt64(self.bytes.readableBytes) }
    }

    private struct Place {
        /// The number of bytes read so far, and the number at the last `markReaders`; the latter is nil for a reader that came
        /// later.
        var offset: UInt64
        var mark: UInt64?
        /// Bytes that were read from the disk, and that the reader has not taken yet.
        var found: Result<ByteBuffer, SessionError>?
        /// Wakes a reader that waits for the disk.
        var wake: (@Sendable () -> Void)?
        var isAsking = false
    }

    /// The bytes that stay in memory although they are on disk, for readers that lag only a little.
    private static let near = 128 * 1024
    /// The most bytes that are read from the disk for a reader at once. The next read starts when they are taken.
    private static let question: UInt64 = 64 * 1024
    /// A piece shorter than `small` is appended to the previous one, up to `most` bytes together, because each piece has
    /// overhead.
    private static let (small, most) = (4 * 1024, 16 * 1024)

    private let limit: Int
    private(set) var keeping: Keeping
    private var share: BodyBudget.Share?
    /// Writes the body to the disk.
    var store: (@Sendable (SharedBody) -> Void)?
    private var pieces: CircularBuffer<Piece> = []
    /// The number of bytes in memory, and the number that have arrived.
    private var kept = 0
    private(set) var count: UInt64 = 0
    /// The bytes on disk, counted from the body's first one. Bytes that are neither on disk nor in memory were read by every
    /// reader.
    var written: UInt64 = 0
    var storage: (any BodyStorage)?
    var end: Result<Void, SessionError>? {
        didSet { self.share?.shrink(to: self.kept) }
    }
    private var places: [Int: Place] = [:]
    /// The readers that were dropped for being too slow, until they close.
    private var letGo: Set<Int> = []
    /// The number of bytes that had arrived at the last `markReaders`.
    private var countAtMark: UInt64 = 0
    private var nextNumber = 0
    /// True when no new reader is accepted any more.
    private var isClosed = false
    /// The number of the reader that writes the body to disk.
    private var storer: Int?
    /// The number of readers whose next byte has left memory, and of those whose next byte has not arrived.
    private var behind = 0
    private var atEnd = 0
    /// Wake readers that wait for the next byte.
    private var wakes: [Int: @Sendable () -> Void] = [:]
    /// Wakes the source, which waits for room.
    var resume: (@Sendable () -> Void)?

    /// Creates a body that is still arriving.
    ///
    /// - Parameters:
    ///   - limit: the size in bytes up to which the whole body is kept in memory.
    ///   - share: the memory that is reserved for it.
    ///   - store: writes the body to disk if it is longer than the limit.
    init(limit: Int, in share: BodyBudget.Share?, store: (@Sendable (SharedBody) -> Void)?) {
        (self.limit, self.keeping, self.share, self.store) = (limit, .all, share, store)
    }

    /// Creates a body that is completely on disk.
    init(stored storage: any BodyStorage, length: UInt64) {
        (self.limit, self.keeping, self.storage) = (0, .unread, storage)
        (self.written, self.count, self.end) = (length, length, .success(()))
    }

    /// Creates a body that is completely in memory.
    init(whole pieces: [ByteBuffer]) {
        (self.limit, self.keeping, self.end) = (.max, .all, .success(()))
        for piece in pieces { self.add(piece) }
    }

    // MARK: Memory

    /// The offset of the first byte in memory; with none in memory, of the next byte to arrive.
    private var start: UInt64 { self.pieces.first?.start ?? self.count }

    /// Starts to keep less if the body has become too long for memory.
    ///
    /// - Returns: the closure that writes the body to disk, once.
    mutating func outgrowMemory() -> (@Sendable (SharedBody) -> Void)? {
        guard case .all = self.keeping, self.kept > self.limit else { return nil }
        self.keeping = self.store == nil ? .unread : .unwritten
        self.share?.shrink(to: SharedBody.window)
        defer { self.store = nil }
        return self.store
    }

    mutating func leaveMemory(for budget: BodyBudget) { self.share = self.share ?? budget.taken(self.kept) }

    /// True if some bytes may be neither in memory nor on disk.
    var isIncomplete: Bool { if case .unread = self.keeping { true } else { false } }

    /// True while the disk takes the arriving bytes.
    var isBeingWritten: Bool { if case .unwritten = self.keeping { true } else { false } }

    /// Notes that the disk takes no more bytes.
    mutating func endStoring() { self.keeping = .unread }

    /// True if the source may send more.
    var hasRoom: Bool {
        switch self.keeping {
        case .all: true
        case .unwritten: self.count - self.written < UInt64(SharedBody.window)
        case .unread: self.kept < SharedBody.window
        }
    }

    /// All bytes that have arrived; nil if some of them are not in memory.
    var everything: [ByteBuffer]? { if case .all = self.keeping { self.pieces.map(\.bytes) } else { nil } }

    mutating func append(_ bytes: ByteBuffer) {
        let count = bytes.readableBytes
        guard count < Self.small || count < bytes.storageCapacity / 2 else { return self.add(bytes) }
        // An empty piece has no byte that a reader could stand at.
        guard count > 0 else { return }
        guard let last = self.pieces.indices.last, self.pieces[last].bytes.readableBytes + count <= Self.most else {
            // Copied, because the piece would otherwise keep a much longer buffer alive.
            return self.add(ByteBuffer(bytes: bytes.readableBytesView))
        }
        self.pieces[last].bytes.writeImmutableBuffer(bytes)
        self.pieces[last].readers += self.atEnd
        self.noteCount(count)
    }

    private mutating func add(_ bytes: ByteBuffer) {
        self.pieces.append(Piece(start: self.count, bytes: bytes, readers: self.atEnd))
        self.noteCount(bytes.readableBytes)
    }

    /// Counts bytes that have arrived: no reader is at the end any more.
    private mutating func noteCount(_ count: Int) {
        self.kept += count
        self.count += UInt64(count)
        self.atEnd = 0
    }

    /// Drops the bytes that need not be in memory.
    mutating func drop() {
        while let first = self.pieces.first {
            let isWritten = first.end <= self.written
            let mayGo =
                switch self.keeping {
                case .all: false
                case .unwritten: isWritten && self.kept > Self.near
                case .unread:
                    isWritten && self.kept > Self.near || first.readers == 0 && (self.behind == 0 || isWritten)
                }
            // Later pieces arrived later, and stay as well.
            guard mayGo else { return }
            self.behind += first.readers
            self.kept -= first.bytes.readableBytes
            self.pieces.removeFirst()
        }
    }

    /// Takes the closures that wake the readers waiting for the next byte.
    mutating func takeWakes() -> [@Sendable () -> Void] {
        defer { self.wakes = [:] }
        return Array(self.wakes.values)
    }

    /// Takes the closure that wakes the source, if it waits and may continue.
    mutating func takeResume() -> (@Sendable () -> Void)? {
        guard self.hasRoom else { return nil }
        defer { self.resume = nil }
        return self.resume
    }

    // MARK: Readers

    /// True if the only reader, if any, is the one that writes the body to disk.
    var isUnread: Bool { self.places.count == (self.storer == nil ? 0 : 1) }

    mutating func closeIfUnread() -> Bool {
        if self.isUnread { self.isClosed = true }
        return self.isClosed
    }

    /// - Returns: the number of the new reader; nil if the bytes from the offset on are gone.
    mutating func open(at offset: UInt64) -> Int? {
        guard !self.isClosed, offset >= self.start || self.start <= self.written else { return nil }
        defer { self.nextNumber += 1 }
        self.places[self.nextNumber] = Place(offset: offset)
        self.enter(offset)
        return self.nextNumber
    }

    mutating func openForStoring() -> Int {
        precondition(self.storer == nil && self.start == 0, "BUG: a body is stored twice")
        defer { self.nextNumber += 1 }
        self.storer = self.nextNumber
        self.places[self.nextNumber] = Place(offset: 0)
        self.enter(0)
        return self.nextNumber
    }

    mutating func close(_ number: Int) {
        if self.letGo.remove(number) != nil { return }
        guard let place = self.places.removeValue(forKey: number) else {
            preconditionFailure("BUG: a reader closes twice")
        }
        self.leave(place.offset)
        self.wakes[number] = nil
        if self.storer == number { self.storer = nil }
    }

    mutating func next(_ number: Int, wake: @escaping @Sendable () -> Void) -> (SharedBody.Next, Question?) {
        if self.letGo.contains(number) { return (.end(Self.tooSlow), nil) }
        guard var place = self.places[number] else { preconditionFailure("BUG: a closed reader reads") }
        defer { self.places[number] = place }
        if let found = place.found {
            place.found = nil
            switch found {
            case .success(let bytes):
                self.move(&place, by: bytes)
                return (.piece(bytes), nil)
            case .failure(let error): return (.end(error), nil)
            }
        }
        if place.offset < self.start { return (.wait, self.question(for: &place, wake: wake)) }
        guard place.offset < self.count else {
            switch self.end {
            case nil: self.wakes[number] = wake
            case .success?: return (.end(nil), nil)
            case .failure(let error)?: return (.end(error), nil)
            }
            return (.wait, nil)
        }
        let piece = self.pieces[self.index(of: place.offset)]
        var bytes = piece.bytes
        bytes.moveReaderIndex(forwardBy: Int(place.offset - piece.start))
        self.move(&place, by: bytes)
        self.drop()
        return (.piece(bytes), nil)
    }

    private func question(for place: inout Place, wake: @escaping @Sendable () -> Void) -> Question? {
        place.wake = wake
        guard !place.isAsking else { return nil }
        guard let storage, place.offset < self.written else {
            preconditionFailure("BUG: bytes are neither in memory nor stored")
        }
        place.isAsking = true
        // Ends at a block boundary: blocks are verified as a whole.
        let count = min(Self.question - place.offset % Self.question, self.written - place.offset)
        return Question(storage: storage, offset: place.offset, count: Int(count))
    }

    /// Stores the bytes that the disk has returned for a reader.
    ///
    /// - Returns: the closure that wakes the reader; nil if the reader has left.
    mutating func found(_ bytes: Result<ByteBuffer, SessionError>, for number: Int) -> (@Sendable () -> Void)? {
        guard var place = self.places[number] else { return nil }
        let wake = place.wake
        (place.found, place.wake, place.isAsking) = (bytes, nil, false)
        self.places[number] = place
        return wake
    }

    // MARK: Slow readers

    private static let tooSlow = SessionError(
        .cancelled, "the client read too slowly, and other clients waited for the same answer")

    /// Starts to measure how much the readers read.
    mutating func markReaders() {
        self.countAtMark = self.count
        for (number, place) in self.places { self.places[number]?.mark = place.offset }
    }

    /// Drops readers that have hardly read since the last `markReaders`, if others wait that have read everything.
    ///
    /// - Returns: true if the body waits for its readers, and less than a window has arrived since the last `markReaders`.
    mutating func letStragglersGo() -> Bool {
        let window = UInt64(SharedBody.window)
        guard case .unread = self.keeping, !self.hasRoom, self.count - self.countAtMark < window else { return false }
        guard self.atEnd > 0, let first = self.pieces.first else { return true }
        for (number, place) in self.places where place.offset < self.count {
            guard let mark = place.mark, place.offset - mark < window else { continue }
            // A reader that moves, and is not the last one, may be about to read the rest.
            guard place.offset == mark || place.offset < first.end else { continue }
            self.close(number)
            self.letGo.insert(number)
        }
        self.drop()
        return true
    }

    // MARK: Places

    private mutating func move(_ place: inout Place, by bytes: ByteBuffer) {
        self.leave(place.offset)
        place.offset += UInt64(bytes.readableBytes)
        self.enter(place.offset)
    }

    private mutating func enter(_ offset: UInt64) { self.count(1, at: offset) }

    private mutating func leave(_ offset: UInt64) { self.count(-1, at: offset) }

    /// Adds readers to the counter for an offset, or removes them.
    private mutating func count(_ change: Int, at offset: UInt64) {
        if offset >= self.count {
            self.atEnd += change
        } else if offset < self.start {
            self.behind += change
        } else {
            self.pieces[self.index(of: offset)].readers += change
        }
    }

    /// The index of the piece that contains a byte in memory.
    private func index(of offset: UInt64) -> CircularBuffer<Piece>.Index {
        var (low, high) = (0, self.pieces.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if self.pieces[self.pieces.index(self.pieces.startIndex, offsetBy: middle)].start <= offset {
                low = middle
            } else {
                high = middle - 1
            }
        }
        return self.pieces.index(self.pieces.startIndex, offsetBy: low)
    }
}
