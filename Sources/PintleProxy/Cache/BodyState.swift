// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSession

/// The state of a ``SharedBody``: which of its bytes are in memory, which are on a disk, and where its readers are.
struct BodyState {
    /// The bytes that stay in memory.
    enum Keeping {
        case all
        /// Those that are not on the disk, which takes them.
        case unwritten
        /// Those that somebody has still to read.
        case unread
    }

    /// The bytes that are to be read from the disk for a reader.
    struct Question {
        let storage: any BodyStorage
        let offset: UInt64
        let count: Int
    }

    private struct Piece {
        /// The place of its first byte in the body.
        let start: UInt64
        var bytes: ByteBuffer
        /// The number of readers whose next byte is in it.
        var readers = 0

        var end: UInt64 { self.start + UInt64(self.bytes.readableBytes) }
    }

    private struct Place {
        /// The bytes that were read, and those that were when readers were marked last; nil for a reader that came later.
        var offset: UInt64
        var mark: UInt64?
        /// The bytes that have come from the disk, and are not given yet.
        var found: Result<ByteBuffer, SessionError>?
        /// Wakes a reader that waits for the disk.
        var wake: (@Sendable () -> Void)?
        var isAsking = false
    }

    /// The bytes that stay in memory although they are on the disk, for readers that are not far behind.
    private static let near = 128 * 1024
    /// The most bytes that are read from the disk for a reader at once: its client takes them before there are more.
    private static let question: UInt64 = 64 * 1024
    /// A piece of fewer bytes is copied behind the one before, up to so many bytes together: it costs more than its bytes.
    private static let (small, most) = (4 * 1024, 16 * 1024)

    private let limit: Int
    private(set) var keeping: Keeping
    private var share: BodyBudget.Share?
    /// Writes the body to the disk.
    var store: (@Sendable (SharedBody) -> Void)?
    private var pieces: CircularBuffer<Piece> = []
    /// The bytes in memory, and those that have come.
    private var kept = 0
    private(set) var count: UInt64 = 0
    /// The bytes on the disk, from the first one of the body on. What is neither there nor in memory everybody has read.
    var written: UInt64 = 0
    var storage: (any BodyStorage)?
    var end: Result<Void, SessionError>? {
        didSet { self.share?.shrink(to: self.kept) }
    }
    private var places: [Int: Place] = [:]
    /// The readers that were let go, until they close.
    private var letGo: Set<Int> = []
    /// The bytes that had come when readers were marked last.
    private var countAtMark: UInt64 = 0
    private var nextNumber = 0
    /// True once nobody may begin to read any more.
    private var isClosed = false
    /// The number of who writes the body to the disk.
    private var storer: Int?
    /// The readers whose next byte is not in memory any more, and those whose next byte has not come.
    private var behind = 0
    private var atEnd = 0
    /// Wake readers that wait for the next byte.
    private var wakes: [Int: @Sendable () -> Void] = [:]
    /// Wakes the source, which waits for room.
    var resume: (@Sendable () -> Void)?

    /// A body that comes.
    ///
    /// - Parameters:
    ///   - limit: the bytes up to which it is kept in memory as a whole.
    ///   - share: the memory that is set apart for it.
    ///   - store: writes it to the disk where it is longer.
    init(limit: Int, in share: BodyBudget.Share?, store: (@Sendable (SharedBody) -> Void)?) {
        (self.limit, self.keeping, self.share, self.store) = (limit, .all, share, store)
    }

    /// A body that is on the disk as a whole.
    init(stored storage: any BodyStorage, length: UInt64) {
        (self.limit, self.keeping, self.storage) = (0, .unread, storage)
        (self.written, self.count, self.end) = (length, length, .success(()))
    }

    /// A body that is in memory as a whole.
    init(whole pieces: [ByteBuffer]) {
        (self.limit, self.keeping, self.end) = (.max, .all, .success(()))
        for piece in pieces { self.add(piece) }
    }

    // MARK: What is kept

    /// The place of the first byte in memory, or of the next one that comes.
    private var start: UInt64 { self.pieces.first?.start ?? self.count }

    /// Keeps less where the body has become too long for memory.
    ///
    /// - Returns: what writes it to the disk, once.
    mutating func outgrowMemory() -> (@Sendable (SharedBody) -> Void)? {
        guard case .all = self.keeping, self.kept > self.limit else { return nil }
        self.keeping = self.store == nil ? .unread : .unwritten
        self.share?.shrink(to: SharedBody.window)
        defer { self.store = nil }
        return self.store
    }

    mutating func leaveMemory(for budget: BodyBudget) { self.share = self.share ?? budget.taken(self.kept) }

    /// True where some of it may be neither in memory nor on the disk.
    var isIncomplete: Bool { if case .unread = self.keeping { true } else { false } }

    /// True while the disk takes what comes.
    var isBeingWritten: Bool { if case .unwritten = self.keeping { true } else { false } }

    /// Notes that the disk takes no more.
    mutating func endStoring() { self.keeping = .unread }

    /// True where the source may go on.
    var hasRoom: Bool {
        switch self.keeping {
        case .all: true
        case .unwritten: self.count - self.written < UInt64(SharedBody.window)
        case .unread: self.kept < SharedBody.window
        }
    }

    /// All that has come; nil where something of it is not in memory.
    var everything: [ByteBuffer]? { if case .all = self.keeping { self.pieces.map(\.bytes) } else { nil } }

    mutating func append(_ bytes: ByteBuffer) {
        let count = bytes.readableBytes
        guard count < Self.small || count < bytes.storageCapacity / 2 else { return self.add(bytes) }
        // An empty piece has no byte that a reader could stand at.
        guard count > 0 else { return }
        guard let last = self.pieces.indices.last, self.pieces[last].bytes.readableBytes + count <= Self.most else {
            // In memory of its own: it would hold a buffer that is much longer.
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

    /// Counts bytes that have come: nobody is at their end.
    private mutating func noteCount(_ count: Int) {
        self.kept += count
        self.count += UInt64(count)
        self.atEnd = 0
    }

    /// Forgets what need not be in memory.
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
            // The pieces behind it came later, and stay as well.
            guard mayGo else { return }
            self.behind += first.readers
            self.kept -= first.bytes.readableBytes
            self.pieces.removeFirst()
        }
    }

    /// Takes what wakes the readers that wait for the next byte.
    mutating func takeWakes() -> [@Sendable () -> Void] {
        defer { self.wakes = [:] }
        return Array(self.wakes.values)
    }

    /// Takes what wakes the source, where it waits and may go on.
    mutating func takeResume() -> (@Sendable () -> Void)? {
        guard self.hasRoom else { return nil }
        defer { self.resume = nil }
        return self.resume
    }

    // MARK: Readers

    /// True where nobody reads, but for who writes the body to the disk.
    var isUnread: Bool { self.places.count == (self.storer == nil ? 0 : 1) }

    mutating func closeIfUnread() -> Bool {
        if self.isUnread { self.isClosed = true }
        return self.isClosed
    }

    /// - Returns: the number of a reader; nil where the bytes from there on are gone.
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
        // Up to the end of a block: they are verified as a whole.
        let count = min(Self.question - place.offset % Self.question, self.written - place.offset)
        return Question(storage: storage, offset: place.offset, count: Int(count))
    }

    /// Takes what the disk has for a reader.
    ///
    /// - Returns: what wakes the reader; nil where it has left.
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

    /// Begins to measure how much readers read.
    mutating func markReaders() {
        self.countAtMark = self.count
        for (number, place) in self.places { self.places[number]?.mark = place.offset }
    }

    /// Lets go of readers that have hardly read since they were marked, where others wait that have read all there is.
    ///
    /// - Returns: true where the body waits for its readers, and less than a window has come since they were marked.
    mutating func letStragglersGo() -> Bool {
        let window = UInt64(SharedBody.window)
        guard case .unread = self.keeping, !self.hasRoom, self.count - self.countAtMark < window else { return false }
        guard self.atEnd > 0, let first = self.pieces.first else { return true }
        for (number, place) in self.places where place.offset < self.count {
            guard let mark = place.mark, place.offset - mark < window else { continue }
            // One that moves, and is not the last, may be about to read the rest.
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

    /// Counts readers in or out at a place.
    private mutating func count(_ change: Int, at offset: UInt64) {
        if offset >= self.count {
            self.atEnd += change
        } else if offset < self.start {
            self.behind += change
        } else {
            self.pieces[self.index(of: offset)].readers += change
        }
    }

    /// The index of the piece with a byte that is in memory.
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
