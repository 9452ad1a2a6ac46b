// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSession
internal import PintleSystem

/// The body of a response that arrives once and has many readers, on any event loop, each at its own speed.
///
/// The whole body is kept in memory as long as it fits into the reserved memory. A longer one is written to disk, if there is
/// one for it: then memory keeps a window of the latest bytes, and slower readers read from the disk, so that no reader delays
/// another. If there is no disk, or if it takes no more bytes, the unread bytes stay in memory, and the source waits when they
/// fill a window.
final class SharedBody: Sendable {
    /// The position of a reader in the body.
    struct Reader: Sendable {
        fileprivate let number: Int
    }

    /// Result of reading at the current offset.
    enum Next {
        case piece(ByteBuffer)
        /// Nothing yet: the reader is woken when there is more.
        case wait
        case end(SessionError?)
    }

    /// The most bytes in memory of a body that is not kept there as a whole, before its source waits; may be exceeded by one
    /// piece.
    static let window = 256 * 1024
    /// The whole body if it was in memory from the beginning (read without a lock); otherwise empty.
    let pieces: [ByteBuffer]
    private let state: Locked<BodyState>

    /// - Parameters:
    ///   - limit: the size in bytes up to which the whole body is kept in memory.
    ///   - share: the memory that is reserved for it, as long as the body has any user.
    ///   - store: called at most once, if the body is longer than the limit; released at the end. It reads the body with
    ///     ``openForStoring()``, and writes it to disk.
    init(limit: Int, in share: BodyBudget.Share? = nil, store: (@Sendable (SharedBody) -> Void)? = nil) {
        self.pieces = []
        self.state = Locked(BodyState(limit: limit, in: share, store: store))
    }

    /// Creates a body that is completely in memory.
    init(whole pieces: [ByteBuffer]) {
        self.pieces = pieces
        self.state = Locked(BodyState(whole: pieces))
    }

    /// Creates a body that is completely on disk.
    ///
    /// - Parameter length: in bytes.
    init(stored storage: any BodyStorage, length: UInt64) {
        self.pieces = []
        self.state = Locked(BodyState(stored: storage, length: length))
    }

    // MARK: Source

    /// Adds a piece.
    ///
    /// - Returns: false if the source has to wait until it is resumed.
    func append(_ piece: ByteBuffer) -> Bool {
        let (wakes, store, goesOn) = self.state.withLock { state in
            state.append(piece)
            let store = state.outgrowMemory()
            state.drop()
            return (state.takeWakes(), store, state.hasRoom)
        }
        store?(self)
        for wake in wakes { wake() }
        return goesOn
    }

    /// Wakes the source on any thread when there is room again; immediately if there is room now.
    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        let hasRoom = self.state.withLock { state in
            if !state.hasRoom { state.resume = resume }
            return state.hasRoom
        }
        if hasRoom { resume() }
    }

    /// True if the source may send more.
    var hasRoom: Bool { self.state.withLock { $0.hasRoom } }

    /// Starts to measure how much the readers read.
    func markReaders() { self.state.withLock { $0.markReaders() } }

    /// Drops readers that have hardly read since the last ``markReaders()``, if others wait that have read everything. A
    /// dropped reader gets an error as the end.
    ///
    /// - Returns: true if the body waits for its readers, and less than a window has arrived since the last ``markReaders()``.
    func letStragglersGo() -> Bool {
        let (areSlow, resume) = self.state.withLock { ($0.letStragglersGo(), $0.takeResume()) }
        resume?()
        return areSlow
    }

    /// Ends the body; successfully if `error` is nil.
    func finish(_ error: SessionError?) {
        let (wakes, store) = self.state.withLock { state in
            state.end = error.map { .failure($0) } ?? .success(())
            defer { state.store = nil }
            return (state.takeWakes(), state.store)
        }
        // The closure may hold the source, which holds this body.
        withExtendedLifetime(store) {}
        for wake in wakes { wake() }
    }

    /// The whole body; nil if it is incomplete, or not completely in memory.
    var whole: [ByteBuffer]? {
        self.state.withLock { state in
            guard case .success? = state.end else { return nil }
            return state.everything
        }
    }

    /// All bytes that have arrived, complete or not; nil if some of them are not in memory.
    var begun: [ByteBuffer]? { self.state.withLock { $0.everything } }

    /// True while the disk takes a body that is too long for memory.
    var isBeingWritten: Bool { self.state.withLock { $0.isBeingWritten } }

    /// Counts the memory of an evicted body as long as it has readers.
    func leaveMemory(for budget: BodyBudget) {
        if self.pieces.isEmpty { return }
        self.state.withLock { $0.leaveMemory(for: budget) }
    }

    /// True if some bytes may be neither in memory nor on disk, so that the body cannot be kept.
    var isIncomplete: Bool { self.state.withLock { $0.isIncomplete } }

    /// The number of bytes that have arrived.
    var count: UInt64 { self.state.withLock { $0.count } }

    /// Accepts no new readers from now on, unless the body has a reader; the one that writes it to disk does not count.
    ///
    /// - Returns: false if the body has a reader.
    func closeIfUnread() -> Bool { self.state.withLock { $0.closeIfUnread() } }

    // MARK: Disk

    /// Opens the reader that writes the body to disk. Bytes not reported as stored stay in memory for it.
    func openForStoring() -> Reader { Reader(number: self.state.withLock { $0.openForStoring() }) }

    /// Notes that bytes can be read from the disk.
    ///
    /// - Parameter length: their number, counted from the body's first byte.
    func stored(_ length: UInt64, in storage: any BodyStorage) {
        let resume = self.state.withLock { state in
            (state.storage, state.written) = (storage, length)
            state.drop()
            return state.takeResume()
        }
        resume?()
    }

    /// Notes that the disk takes no more bytes, and closes the writing reader. Stored bytes can still be read.
    func storingEnded(_ reader: Reader) {
        let resume = self.state.withLock { state in
            state.close(reader.number)
            state.endStoring()
            state.drop()
            return state.takeResume()
        }
        resume?()
    }

    // MARK: Readers

    /// Opens a reader; nil if the bytes from the offset on are gone.
    ///
    /// - Parameter offset: the offset of the first wanted byte (0…length).
    func open(at offset: UInt64 = 0) -> Reader? {
        self.state.withLock { $0.open(at: offset) }.map(Reader.init)
    }

    /// Takes the next piece.
    ///
    /// - Parameter wake: called once, on any thread, when there is more; only if the result is `.wait`.
    func next(_ reader: Reader, wake: @escaping @Sendable () -> Void) -> Next {
        let (next, question, resume) = self.state.withLock { state in
            let (next, question) = state.next(reader.number, wake: wake)
            return (next, question, state.takeResume())
        }
        resume?()
        if let question { self.ask(question, for: reader) }
        return next
    }

    /// Closes a reader.
    ///
    /// - Returns: true if no reader is left, except the one that writes to disk.
    func close(_ reader: Reader) -> Bool {
        let (isLast, resume) = self.state.withLock { state in
            state.close(reader.number)
            state.drop()
            return (state.isUnread, state.takeResume())
        }
        resume?()
        return isLast
    }

    /// Reads bytes from the disk that a reader wants and that are not in memory.
    private func ask(_ question: BodyState.Question, for reader: Reader) {
        Task {
            let found: Result<ByteBuffer, SessionError>
            do throws(SessionError) {
                found = .success(try await question.storage.bytes(at: question.offset, upTo: question.count))
            } catch {
                found = .failure(error)
            }
            self.state.withLock { $0.found(found, for: reader.number) }?()
        }
    }
}
